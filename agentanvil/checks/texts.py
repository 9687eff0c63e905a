"""Checks that compare and count text."""

from __future__ import annotations

from agentanvil.checks.fields import as_text, parse_field, read_field
from agentanvil.checks.finding import Check, Finding, ParameterError, Parameters, excerpt
from agentanvil.dataset import JsonValue, Row


def contains(params: Parameters) -> Check:
    """Passes where every one of `text` occurs, letter for letter unless `ignore_case`."""
    wanted, fold = _texts(params), bool(params.get("ignore_case"))

    def check(value: JsonValue, _row: Row) -> Finding:
        text = _folded(as_text(value), fold)
        absent = [each for each in wanted if _folded(each, fold) not in text]
        if absent:
            return Finding(False, f"does not contain {_listed(absent)}")
        return Finding(True, f"contains {_listed(wanted)}")

    return check


def not_contains(params: Parameters) -> Check:
    """Passes where none of `text` occurs, letter for letter unless `ignore_case`."""
    unwanted, fold = _texts(params), bool(params.get("ignore_case"))

    def check(value: JsonValue, _row: Row) -> Finding:
        text = _folded(as_text(value), fold)
        found = [each for each in unwanted if _folded(each, fold) in text]
        if found:
            return Finding(False, f"contains {_listed(found)}")
        return Finding(True, f"does not contain {_listed(unwanted)}")

    return check


def max_words(params: Parameters) -> Check:
    """Passes up to `limit` words: runs of characters between Unicode white space.

    Scripts that write no spaces (Chinese, Japanese, Thai) hold few such runs: `max_chars` counts there.
    """
    limit = _limit(params)

    def check(value: JsonValue, _row: Row) -> Finding:
        return _within(len(as_text(value).split()), limit, "words")

    return check


def max_chars(params: Parameters) -> Check:
    """Passes up to `limit` characters, counted in Unicode code points, white space included."""
    limit = _limit(params)

    def check(value: JsonValue, _row: Row) -> Finding:
        return _within(len(as_text(value)), limit, "characters")

    return check


def equals_field(params: Parameters) -> Check:
    """Passes where the text is that of the row's `field`, white space at both ends aside.

    Values that are not text are compared as canonical JSON: the number 5 equals the text `5`.
    """
    name = params.get("field")
    if not isinstance(name, str):
        raise ParameterError("field", "must name a field of the row")
    path, fold = parse_field(name, "field"), bool(params.get("ignore_case"))

    def check(value: JsonValue, row: Row) -> Finding:
        wanted = as_text(read_field(row, path)).strip()
        given = as_text(value).strip()
        if _folded(given, fold) == _folded(wanted, fold):
            return Finding(True, f"equals {name}")
        return Finding(False, f"{excerpt(given)} is not {name}, which is {excerpt(wanted)}")

    return check


def _within(count: int, limit: int, unit: str) -> Finding:
    return Finding(count <= limit, f"{count} {unit}, the limit is {limit}")


def _folded(text: str, fold: bool) -> str:
    return text.casefold() if fold else text


def _listed(texts: tuple[str, ...] | list[str]) -> str:
    return ", ".join(excerpt(text) for text in texts)


def _texts(params: Parameters) -> tuple[str, ...]:
    given = params.get("text")
    texts = (given,) if isinstance(given, str) else given
    if not isinstance(texts, tuple | list) or not texts or not all(isinstance(text, str) and text for text in texts):
        raise ParameterError("text", "must be a text, or a list of texts, none of them empty")
    return tuple(texts)


def _limit(params: Parameters) -> int:
    limit = params.get("limit")
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 0:
        raise ParameterError("limit", "must be a whole number, 0 or more")
    return limit
