"""The JSON Schema check. How a schema is prepared, and with which library, is in `rubric/json_schema.py`."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from jsonschema_rs import ValidationError

from agentanvil.checks.finding import Check, CheckFaultError, Finding, ParameterError, Parameters
from agentanvil.checks.patterns import TIMED_OUT
from agentanvil.dataset import JsonValue, Row
from agentanvil.rubric import SchemaFaultError, compile_schema
from agentanvil.strict_json import JsonError, parse_json, replace_surrogates

_UNDECIDED = frozenset({"BacktrackLimitExceeded", "RegexEngineFailure"})
_LOOK_AT = 50
_LONGEST = 200


def meets_schema(params: Parameters) -> Check:
    """Passes where the text is one strict JSON value that meets `schema` (draft 2020-12 unless it says another).

    Strict as a program would read it: no text around it, no code fence, no duplicate keys, no NaN. A field
    of the row that is JSON already is validated as it is. `format` asserts nothing.
    """
    schema = params.get("schema")
    if not isinstance(schema, dict):
        raise ParameterError("schema", "must be a JSON Schema object")
    try:
        validator = compile_schema(schema)
    except SchemaFaultError as fault:
        raise ParameterError("schema", f"{_place(fault.path)}: {fault.message}") from None

    def check(value: JsonValue, _row: Row) -> Finding:
        if not isinstance(value, str):
            return _judge(validator.iter_errors(value))
        try:
            parsed, _ = replace_surrogates(value, parse_json(value))
        except JsonError as fault:
            return Finding(False, _not_json(value, fault))
        return _judge(validator.iter_errors(parsed))

    return check


def _judge(errors: Iterable[ValidationError]) -> Finding:
    """A violation decides, whatever else could not be; only then does an undecided pattern matter."""
    found = list(islice(errors, _LOOK_AT))
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
