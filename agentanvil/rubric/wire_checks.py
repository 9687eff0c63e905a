"""What a `check` may hold: one strict model per type, since each type has its own parameters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from agentanvil.rubric.json_schema import SchemaFaultError, compile_schema
from agentanvil.rubric.patterns import PatternFaultError, RegexFlag, compile_pattern
from agentanvil.rubric.wire_base import Verbatim, Wire

# As paths into rows are spelt everywhere: parts joined by dots; a dot in a key is written `a\\.b` or `"a.b"`.
_PART = r'(?:"(?:[^"\\\n]|\\.)+"|(?:[^".\\\s]|\\.)(?:[^.\\\n]|\\.)*)'
FieldPath = Annotated[
    str, StringConstraints(strip_whitespace=True, pattern=rf"^{_PART}(?:\.{_PART})*\z", max_length=200)
]


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _checked_schema(schema: dict[str, object]) -> dict[str, object]:
    try:
        compile_schema(schema)
    except SchemaFaultError as fault:
        raise PydanticCustomError("bad_schema", "{said}", {"said": fault.message, "path": fault.path}) from None
    return schema


Texts = Annotated[list[Verbatim], BeforeValidator(_as_list), Field(min_length=1)]
Limit = Annotated[int, Field(ge=0)]
JsonSchema = Annotated[dict[str, object], AfterValidator(_checked_schema)]


class _CheckWire(Wire):
    on: FieldPath = "response"

    def params(self) -> dict[str, object]:
        """Return the parameters that belong to this type, defaults filled in."""
        return dict(self._params())

    def _params(self) -> Iterator[tuple[str, object]]:
        for name, field in type(self).model_fields.items():
            if name not in ("type", "on"):
                value = getattr(self, name)
                yield field.alias or name, tuple(value) if isinstance(value, list) else value


class RegexCheckWire(_CheckWire):
    """The text matches `pattern` somewhere."""

    type: Literal["regex"]
    pattern: Verbatim
    flags: list[RegexFlag] = Field(default_factory=list)

    @model_validator(mode="after")
    def _compiles(self) -> RegexCheckWire:
        try:
            compile_pattern(self.pattern, self.flags)
        except PatternFaultError as fault:
            raise PydanticCustomError("bad_pattern", "{said}", {"said": str(fault), "key": "pattern"}) from None
        return self


class ContainsCheckWire(_CheckWire):
    """The text holds every one of `text`."""

    type: Literal["contains"]
    text: Texts
    ignore_case: bool = False


class NotContainsCheckWire(_CheckWire):
    """The text holds none of `text`."""

    type: Literal["not_contains"]
    text: Texts
    ignore_case: bool = False


class JsonSchemaCheckWire(_CheckWire):
    """The text is JSON that meets `schema`, which is written inline and never fetched."""

    type: Literal["json_schema"]
    schema_: JsonSchema = Field(alias="schema")


class MaxWordsCheckWire(_CheckWire):
    """The text has at most `limit` words."""

    type: Literal["max_words"]
    limit: Limit


class MaxCharsCheckWire(_CheckWire):
    """The text has at most `limit` characters."""

    type: Literal["max_chars"]
    limit: Limit


class EqualsFieldCheckWire(_CheckWire):
    """The text equals the row's `field`, a dotted path."""

    type: Literal["equals_field"]
    field: FieldPath
    ignore_case: bool = False


AnyCheckWire = (
    RegexCheckWire
    | ContainsCheckWire
    | NotContainsCheckWire
    | JsonSchemaCheckWire
    | MaxWordsCheckWire
    | MaxCharsCheckWire
    | EqualsFieldCheckWire
)
