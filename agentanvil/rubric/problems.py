"""Problems of a rubric file, whoever found them, and how they become the one RubricError that a person reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from agentanvil.errors import RubricError, Where
from agentanvil.rubric.yaml_text import YamlPath, YamlText

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_NAMED = 5
_KEY = "[key]"
_ID_HINT = "an id begins with a small letter; small letters, digits and _ may follow, 64 characters at most"
_FILE_ID_HINT = "letters, digits, `.`, `_` and `-`, beginning with a letter or digit; it becomes part of file names"
_FIELD_HINT = "name a field of the row: `response`, `request`, `source`, or a dotted path such as `meta.ticket`"
_MAPPING = ("this must be a mapping, not {shown}", "write `{{key: value}}`, or one `key: value` a line")
_WHOLE = ("this must be a whole number, not {shown}", None)
_TOO_LONG = ("this is too long: at most {max_length} are allowed", None)
# pydantic's kind of error → what a person reads, and a hint.
_WORDS: dict[str, tuple[str, str | None]] = {
    "unknown_key": ("unknown key `{key}`", "{advice}"),
    "missing": ("the key `{last}` is missing", None),
    "bad_value": ("{said}", "{advice}"),
    "bad_schema": ("{said}", None),
    "string_type": ("this must be text, not {shown}", "put it in quotes if it is meant as text"),
    "invalid_key": ("a key must be text, not {shown}", "put it in quotes"),
    "string_type_key": ("a key must be text, not {shown}", "put it in quotes"),
    "string_type_empty": ("this must be text, not {shown}", "write the text after the colon or dash"),
    "string_type_mapping": ("this must be text, not {shown}", "text that holds `: ` needs quotes around it"),
    "int_type": _WHOLE,
    "int_type_key": (
        "an anchor's key must be a whole number on the scale, not {shown}",
        "write it without quotes",
    ),
    "int_from_float": _WHOLE,
    "float_type": ("this must be a number, not {shown}", None),
    "bool_type": ("this must be true or false, not {shown}", "write `true` or `false`"),
    "list_type": ("this must be a list, not {shown}", "write `[one, two]`, or one `- entry` a line"),
    "dict_type": _MAPPING,
    "model_type": _MAPPING,
    "string_too_short": ("this text is empty", None),
    "too_short": ("this list is empty", None),
    "too_long": _TOO_LONG,
    "string_too_long": _TOO_LONG,
    "greater_than_equal": ("this must be at least {ge}, not {shown}", None),
    "string_pattern_mismatch": ("{shown} has characters that are not allowed here", "{pattern_hint}"),
    "literal_error": ("{shown} is not known here", "{suggestion}"),
    "check_none": ("a check needs a `type`", "choose one of: {expected}"),
    "check_unknown": ("{shown} is no type of check", "{suggestion}"),
}
_TAGGED = "union_tag_invalid"
_CODES = {"unknown_key": "R003", "missing": "R004"}


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: where in the file, what, and how to mend it; `code` is the linter's for its kind."""

    path: YamlPath
    message: str
    hint: str | None = None
    code: str = "R002"


def refusal(problems: Sequence[Problem], source: YamlText) -> RubricError:
    """Return the error for the problem that stands first in the file; it also counts and places the others."""
    ordered = sorted(problems, key=lambda problem: source.where(problem.path).line or 0)
    first, others = ordered[0], ordered[1:]
    message = first.message
    if others:
        places = ", ".join(f"line {where.line} {where.key or ''}".rstrip() for where in _places(others, source))
        message += f" ({len(others)} more: {places}{', …' if len(others) > _NAMED else ''})"
    return RubricError(message, where=source.where(first.path), hint=first.hint)


def _places(problems: Sequence[Problem], source: YamlText) -> list[Where]:
    return [source.where(problem.path) for problem in problems[:_NAMED]]


def from_pydantic(errors: Sequence[ErrorDetails], data: object) -> list[Problem]:
    """Return the problems that strict validation found, in words for people who never heard of pydantic."""
    return [_problem(error, data) for error in errors]


def _problem(error: ErrorDetails, data: object) -> Problem:
    context: dict[str, Any] = dict(error.get("ctx") or {})
    path = _path_in_file(error["loc"], data)
    path += (context["key"],) if "key" in context else tuple(context.get("path", ()))
    kind, value = _kind_and_value(error)
    message, hint = _WORDS.get(kind, (error["msg"].replace("{", "{{").replace("}", "}}"), None))
    expected = context.get("expected", context.get("expected_tags", ""))
    options = [option.strip("'<> ") for option in expected.replace(" or ", ",").split(",")]
    context |= {
        "shown": _shown(value),
        "last": error["loc"][-1] if error["loc"] else "",
        "expected": ", ".join(options),
        "suggestion": _suggestion(value, options),
        "pattern_hint": _pattern_hint(error["loc"]),
    }
    return Problem(
        path, message.format_map(context), None if hint is None else hint.format_map(context), _code(kind, value)
    )


def _code(kind: str, value: object) -> str:
    if kind.startswith("string_type") and isinstance(value, bool):
        return "R703"
    return _CODES.get(kind, "R002")


def _kind_and_value(error: ErrorDetails) -> tuple[str, object]:
    """Return the row of `_WORDS` that fits, and the value that is at fault."""
    kind, value = error["type"], error["input"]
    if kind == _TAGGED:
        if not isinstance(value, dict):
            return "model_type", value
        return ("check_none" if value.get("type") is None else "check_unknown"), value.get("type")
    if error["loc"][-1:] == (_KEY,):
        return f"{kind}_key", value
    if kind == "string_type" and value is None:
        return "string_type_empty", value
    if kind == "string_type" and isinstance(value, dict):
        return "string_type_mapping", value
    return kind, value


def _path_in_file(location: tuple[int | str, ...], data: object) -> YamlPath:
    """Drop what the file does not hold: the tags of unions, and pydantic's mark for keys."""
    path: list[str | int] = []
    for position, step in enumerate(location):
        if isinstance(data, dict | list):
            inside = step in data if isinstance(data, dict) else isinstance(step, int) and step < len(data)
        else:
            inside = False
        absent = position == len(location) - 1 and step != _KEY and not str(step).startswith("<")
        if inside:
            data = data[step]  # type: ignore[index]  # `inside` says that it can be indexed
        if inside or absent:
            path.append(step)
    return tuple(path)


def _shown(value: object) -> str:
    match value:
        case None:
            return "an empty value"
        case bool():
            return f"the boolean `{str(value).lower()}`"
        case int() | float():
            return f"the number {value}"
        case str():
            return f"the text `{value[:60]}`"
        case list():
            return "a list"
    return "a mapping"


def _pattern_hint(location: tuple[int | str, ...]) -> str:
    if location == ("id",):
        return _FILE_ID_HINT
    return _FIELD_HINT if location and location[-1] in ("on", "field") else _ID_HINT


def _suggestion(value: object, options: list[str]) -> str:
    close = get_close_matches(str(value).lower(), options, n=1) if isinstance(value, str) else []
    return f"did you mean `{close[0]}`?" if close else f"choose one of: {', '.join(options)}"
