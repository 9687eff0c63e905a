"""What every wire model of the rubric shares: strict types, and unknown keys refused with a suggestion."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationInfo, model_validator
from pydantic_core import PydanticCustomError

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Id = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*\z", max_length=64)]
Verbatim = Annotated[str, StringConstraints(min_length=1)]


class Wire(BaseModel):
    """One mapping of the file.

    Validate with `context={"homes": {key: where it belongs}}`, so that a misplaced key is told its place.
    """

    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, allow_inf_nan=False, validate_by_alias=True, serialize_by_alias=True
    )

    @classmethod
    def keys(cls) -> tuple[str, ...]:
        """Return the keys that the mapping may have, as they are spelt in the file."""
        return tuple(field.alias or name for name, field in cls.model_fields.items())

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown(cls, value: object, info: ValidationInfo) -> object:
        if isinstance(value, dict):
            known = cls.keys()
            for key in value:
                if key not in known:
                    homes = (info.context or {}).get("homes", {})
                    raise PydanticCustomError(
                        "unknown_key",
                        "unknown key `{key}`",
                        {"key": key, "advice": _advice(str(key), known, homes)},
                    )
        return value


def _advice(key: str, known: tuple[str, ...], homes: dict[str, str]) -> str:
    close = get_close_matches(key.lower(), known, n=1, cutoff=0.6)
    if close:
        return f"did you mean `{close[0]}`?"
    if key in homes:
        return f"`{key}` belongs {homes[key]}"
    elsewhere = get_close_matches(key.lower(), homes, n=1, cutoff=0.75)
    if elsewhere:
        return f"did you mean `{elsewhere[0]}`? It belongs {homes[elsewhere[0]]}"
    return f"the keys here are: {', '.join(known)}"
