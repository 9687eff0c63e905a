"""Checks that compare and count text."""

from __future__ import annotations

from agentanvil.checks.fields import as_text, parse_field, plain_text, read_field
from agentanvil.checks.finding import (
    Finding,
    ParameterError,
    Parameters,
    TextCheck,
    excerpt,
    listed,
    text_list,
    whole_limit,
)
from agentanvil.dataset import JsonValue, Row


def contains(params: Parameters) -> TextCheck:
    """Passes where every one of `text` occurs, letter for letter unless `ignore_case`.

    Letters are compared as `plain_text` has them: é is é however it is encoded, and a line ends in \\n.
    """
    wanted, fold = text_list(params, "text"), bool(params.get("ignore_case"))
    compared = [(each, _folded(each, fold)) for each in wanted]

    def check(value: JsonValue, _row: Row) -> Finding:
        text = _folded(value, fold)
        absent = [each for each, folded in compared if folded not in text]
        if absent:
            return Finding(False, f"does not contain {listed(absent)}")
        return Finding(True, f"contains {listed(wanted)}")

    return check


def not_contains(params: Parameters) -> TextCheck:
    """Passes where none of `text` occurs, compared as `contains` does."""
    unwanted, fold = text_list(params, "text"), bool(params.get("ignore_case"))
    compared = [(each, _folded(each, fold)) for each in unwanted]

    def check(value: JsonValue, _row: Row) -> Finding:
        text = _folded(value, fold)
        found = [each for each, folded in compared if folded in text]
        if found:
            return Finding(False, f"contains {listed(found)}")
        return Finding(True, f"does not contain {listed(unwanted)}")

    return check


def max_words(params: Parameters) -> TextCheck:
    """Passes up to `limit` words: runs of characters between Unicode white space.

    Scripts that write no spaces (Chinese, Japanese, Thai) hold few such runs: `max_chars` counts there.
    """
    limit = whole_limit(params)

    def check(value: JsonValue, _row: Row) -> Finding:
        return _within(len(as_text(value).split()), limit, "words")

    return check


def max_chars(params: Parameters) -> TextCheck:
    """Passes up to `limit` characters, counted in Unicode code points, white space included."""
    limit = whole_limit(params)

    def check(value: JsonValue, _row: Row) -> Finding:
        return _within(len(as_text(value)), limit, "characters")

    return check


def equals_field(params: Parameters) -> TextCheck:
    """Passes where the text is that of the row's `field`, white space at both ends aside, compared as `contains` does.

    Values that are not text are compared as canonical JSON: the number 5 equals the text `5`.
    """
    name = params.get("field")
    if not isinstance(name, str):
        raise ParameterError("field", "must name a field of the row")
    path, fold = parse_field(name, "field"), bool(params.get("ignore_case"))

    def check(value: JsonValue, row: Row) -> Finding:
        wanted = read_field(row, path)
        if _folded(value, fold).strip() == _folded(wanted, fold).strip():
            return Finding(True, f"equals {name}")
        given = excerpt(as_text(value).strip())
        return Finding(False, f"{given} is not {name}, which is {excerpt(as_text(wanted).strip())}")

    return check


def _within(count: int, limit: int, unit: str) -> Finding:
    return Finding(count <= limit, f"{count} {unit}, the limit is {limit}")


def _folded(value: JsonValue, fold: bool) -> str:
    text = plain_text(value)
    # Folding can take a text out of its normal form: ǰ becomes two characters.
    return plain_text(text.casefold()) if fold else text
