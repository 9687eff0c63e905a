"""The JSON Schema check. How a schema is prepared, and with which library, is in `rubric/json_schema.py`."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from jsonschema_rs import ValidationError, Validator

from agentanvil.checks.finding import CheckFaultError, Finding, ParameterError, Parameters, TextCheck
from agentanvil.checks.patterns import TIMED_OUT
from agentanvil.dataset import JsonValue, Row
from agentanvil.rubric import SchemaFaultError, compile_schema
from agentanvil.strict_json import JsonError, parse_json, replace_surrogates

_UNDECIDED = frozenset({"BacktrackLimitExceeded", "RegexEngineFailure"})
_LOOK_AT = 50
_LONGEST = 200


def meets_schema(params: Parameters) -> TextCheck:
    """Passes where the text is one strict JSON value that meets `schema` (draft 2020-12 unless it says another).

    Strict as a program would read it: no text around it, no code fence, no duplicate keys, no NaN. A field
    of the row that is JSON already is validated as it is. `format` asserts nothing.
    """
    validator = schema_validator(params)

    def check(value: JsonValue, _row: Row) -> Finding:
        if not isinstance(value, str):
            return meets(validator, value)
        try:
            parsed, _ = replace_surrogates(value, parse_json(value))
        except JsonError as fault:
            return Finding(False, _not_json(value, fault))
        return meets(validator, parsed)

    return check


def schema_validator(params: Parameters) -> Validator:
    """Return the parameter `schema`, prepared. Raises ParameterError."""
    schema = params.get("schema")
    if not isinstance(schema, dict):
        raise ParameterError("schema", "must be a JSON Schema object")
    try:
        return compile_schema(schema)
    except SchemaFaultError as fault:
        raise ParameterError("schema", f"{_place(fault.path)}: {fault.message}") from None


def meets(validator: Validator, value: JsonValue) -> Finding:
    """Say whether `value` meets the schema, and where it does not.

    A violation decides, whatever else could not be; only then does an undecided pattern matter: CheckFaultError
    `check_timeout`.
    """
    found: list[ValidationError] = list(islice(validator.iter_errors(value), _LOOK_AT))
    for error in found:
        if type(error.kind).__name__ not in _UNDECIDED:
            return Finding(False, f"{_place(error.instance_path)}: {_cut(error.message)}")
    if found:
        raise CheckFaultError(TIMED_OUT, f"a pattern of the schema needed too many steps: {_cut(found[0].message)}")
    return Finding(True, "meets the schema")


def _not_json(text: str, fault: JsonError) -> str:
    if text.lstrip().startswith("```"):
        return "not JSON: it stands in a code fence"
    place = f" (line {fault.line}, column {fault.column})" if fault.line is not None else ""
    return f"{fault.message}{place}"


def _place(path: Iterable[str | int]) -> str:
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
