"""What the models of all checks share: their common keys, and the kinds of values that more than one of them has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, NoReturn

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints
from pydantic_core import PydanticCustomError

from agentanvil.rubric.json_schema import SchemaFaultError, compile_schema
from agentanvil.rubric.wire_base import Verbatim, Wire

# As paths into rows are spelt everywhere: parts joined by dots; a dot in a key is written `a\\.b` or `"a.b"`.
_PART = r'(?:"(?:[^"\\\n]|\\.)+"|(?:[^".\\\s]|\\.)(?:[^.\\\n]|\\.)*)'
FieldPath = Annotated[
    str, StringConstraints(strip_whitespace=True, pattern=rf"^{_PART}(?:\.{_PART})*\z", max_length=200)
]


def refuse(said: str, key: str | None = None, hint: str = "") -> NoReturn:
    """Refuse the value that is being validated, or the `key` in it, with words of our own."""
    raise PydanticCustomError("bad_value", "{said}", {"said": said, "advice": hint} | ({"key": key} if key else {}))


def as_list(value: object) -> object:
    """Let one text stand for a list of one."""
    return [value] if isinstance(value, str) else value


def _checked_schema(schema: dict[str, object]) -> dict[str, object]:
    try:
        compile_schema(schema)
    except SchemaFaultError as fault:
        raise PydanticCustomError("bad_schema", "{said}", {"said": fault.message, "path": fault.path}) from None
    return schema


Texts = Annotated[list[Verbatim], BeforeValidator(as_list), Field(min_length=1)]
Limit = Annotated[int, Field(ge=0)]
Amount = Annotated[float, Field(ge=0)]
JsonSchema = Annotated[dict[str, object], AfterValidator(_checked_schema)]


class CheckBase(Wire):
    """A check of any kind."""

    def params(self) -> dict[str, object]:
        """Return the parameters that belong to this type, defaults filled in."""
        return dict(self._params())

    def _params(self) -> Iterator[tuple[str, object]]:
        for name, field in type(self).model_fields.items():
            if name not in ("type", "on"):
                value = getattr(self, name)
                yield field.alias or name, tuple(value) if isinstance(value, list) else value
