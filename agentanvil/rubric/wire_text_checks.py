"""Checks of one field of the row: the response, or what `on` names."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from agentanvil.rubric.patterns import PatternFaultError, RegexFlag, compile_pattern
from agentanvil.rubric.wire_base import Verbatim
from agentanvil.rubric.wire_check_base import CheckBase, FieldPath, JsonSchema, Limit, Texts, as_list, refuse

_CODE = re.compile("[a-z]{2}")


def _language_code(code: str) -> str:
    if _CODE.fullmatch(code) is None:
        refuse(f"`{code[:40]}` is no language code of ISO 639-1", hint="two small letters: `en`, `de`, `fr` …")
    return code


LanguageCodes = Annotated[
    list[Annotated[str, AfterValidator(_language_code)]], BeforeValidator(as_list), Field(min_length=1)
]


class TextCheck(CheckBase):
    """A check that reads the field `on`."""

    on: FieldPath = "response"


class RegexCheckWire(TextCheck):
    """The text matches `pattern` somewhere."""

    type: Literal["regex"]
    pattern: Verbatim
    flags: list[RegexFlag] = Field(default_factory=list)

    @model_validator(mode="after")
    def _compiles(self) -> RegexCheckWire:
        _groups_of(self.pattern, self.flags)
        return self


class ContainsCheckWire(TextCheck):
    """The text holds every one of `text`."""

    type: Literal["contains"]
    text: Texts
    ignore_case: bool = False


class NotContainsCheckWire(TextCheck):
    """The text holds none of `text`."""

    type: Literal["not_contains"]
    text: Texts
    ignore_case: bool = False


class JsonSchemaCheckWire(TextCheck):
    """The text is JSON that meets `schema`, which is written inline and never fetched."""

    type: Literal["json_schema"]
    schema_: JsonSchema = Field(alias="schema")


class MaxWordsCheckWire(TextCheck):
    """The text has at most `limit` words."""

    type: Literal["max_words"]
    limit: Limit


class MaxCharsCheckWire(TextCheck):
    """The text has at most `limit` characters."""

    type: Literal["max_chars"]
    limit: Limit


class EqualsFieldCheckWire(TextCheck):
    """The text equals the row's `field`, a dotted path."""

    type: Literal["equals_field"]
    field: FieldPath
    ignore_case: bool = False


class NumericRangeCheckWire(TextCheck):
    """The number lies between `min` and `max`, both included; `pattern` says where in a text it stands."""

    type: Literal["numeric_range"]
    min: float | None = None
    max: float | None = None
    pattern: Verbatim | None = None

    @model_validator(mode="after")
    def _is_a_range(self) -> NumericRangeCheckWire:
        if self.min is None and self.max is None:
            refuse("a range needs `min`, `max` or both", hint="both ends are part of the range")
        if self.min is not None and self.max is not None and self.min > self.max:
            refuse(f"min ({self.min:g}) is more than max ({self.max:g})", "min")
        if self.pattern is not None and (groups := _groups_of(self.pattern)) != 1:
            hint = r"put the number alone in brackets, `Total: (\d+)`; other brackets are written (?:…)"
            refuse(f"the pattern has {groups} groups; the number is what one group matches", "pattern", hint)
        return self


class LanguageCheckWire(TextCheck):
    """The text is in one of the languages of `codes`."""

    type: Literal["language"]
    codes: LanguageCodes


def _groups_of(pattern: str, flags: list[RegexFlag] | None = None) -> int:
    try:
        return compile_pattern(pattern, flags or ()).groups
    except PatternFaultError as fault:
        refuse(str(fault), "pattern")
