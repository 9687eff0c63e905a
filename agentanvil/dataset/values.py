"""One field's value → what the row holds: text, passages, labels. Each refuses what it cannot mean."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from agentanvil.dataset.faults import FieldError, json_type, listed
from agentanvil.dataset.messages import read_conversation, render_conversation
from agentanvil.dataset.texts import canonical_text, is_blank
from agentanvil.errors import quoted
from agentanvil.strict_json import JsonError, JsonValue, parse_json

_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_PASSAGE_KEYS = ("text", "content", "page_content")
_WINNERS = {"a": 1.0, "b": -1.0, "tie": 0.0}
_BOOLEANS = {"true": True, "false": False}


def read_id(value: JsonValue) -> str:
    """Return the id as text. Raises FieldError on anything but text and whole numbers."""
    if isinstance(value, str):
        if is_blank(value):
            raise FieldError("id", "is empty", "give every row an id of its own")
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    kind = "a fraction" if isinstance(value, float) else json_type(value)
    raise FieldError("id", f"is {kind}; an id is text or a whole number", "write it in quotes")


def read_text(value: JsonValue, field: str, plain_role: str) -> str:
    """Return a request or a response as text: chat messages rendered, other JSON written canonically.

    Raises FieldError where there is nothing to see.
    """
    text = value if isinstance(value, str) else _text_of(value, plain_role)
    if is_blank(text):
        what = "null" if value is None else "empty"
        raise FieldError(field, f"is {what}", "a row needs text here; leave such rows out of the file")
    return text


def read_source(value: JsonValue) -> tuple[str, ...]:
    """Return the passages; those that are blank are no passages. Raises FieldError on other types."""
    if value is None:
        return ()
    items = value if isinstance(value, list) else [value]
    passages = (_passage(item) for item in items)
    return tuple(passage for passage in passages if not is_blank(passage))


def read_model(value: JsonValue, field: str = "model") -> str | None:
    """Return the name of the model that wrote the response, None where it is blank or null."""
    if value is None:
        return None
    if isinstance(value, str):
        return None if is_blank(value) else value
    raise FieldError(field, f"is {json_type(value)}; the model's name is text")


def read_object(value: JsonValue, field: str, cells: bool) -> Mapping[str, JsonValue]:
    """Return `meta` or `labels` as an object; null is an empty one. In a CSV cell it is JSON text."""
    if cells and isinstance(value, str):
        try:
            value = parse_json(value) if value.strip() else None
        except JsonError as fault:
            raise FieldError(field, f"the cell does not hold a JSON object: {fault.message}") from None
    if value is None:
        return {}
    if isinstance(value, dict):
        return value
    raise FieldError(field, f"is {json_type(value)}; it must be an object", f'write {{"NAME": …}} in `{field}`')


@dataclass(frozen=True, slots=True)
class LabelForm:
    """What a label may be beside a number. `cells`: it stands in a CSV cell.

    `booleans`: true and false, as a gate has them. `winners`: `a`, `b` and `tie`, as pairs have them.
    """

    cells: bool = False
    booleans: bool = False
    winners: bool = False


def read_scores(value: JsonValue, field: str, form: LabelForm) -> tuple[float, ...]:
    """Return the human labels of one dimension: one, a list of them, or one by rater.

    Raters come in the order of their names, so that the same place is the same rater in every row. Nulls
    (and blank CSV cells) are raters who gave none. A boolean stays one; `a`, `b`, `tie` become 1, -1, 0.
    """
    if isinstance(value, dict):
        value = [value[rater] for rater in sorted(value)]
    items = value if isinstance(value, list) else [value]
    scores = (_score(item, field, form) for item in items)
    return tuple(score for score in scores if score is not None)


def _score(value: JsonValue, field: str, form: LabelForm) -> float | None:
    if isinstance(value, str):
        text = value.strip()
        word = text.casefold()
        if form.winners and word in _WINNERS:
            return _WINNERS[word]
        if form.cells:
            return _cell_score(text, field, form)
        if form.winners:
            raise FieldError(field, f"is {quoted(text)}; a winner is `a`, `b` or `tie`", "write null where nobody said")
    if value is None:
        return None
    if form.booleans and isinstance(value, bool):
        return value
    if isinstance(value, bool) and not form.winners:
        raise FieldError(
            field,
            "is true or false; a label of this mode is a score",
            "write the score, or grade with --mode gate, whose labels are booleans",
        )
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FieldError(
            field,
            f"is {json_type(value)}; a label is a number, a list of numbers, or numbers by rater",
            "write null where nobody scored",
        )
    try:
        return _finite(float(value), field)
    except OverflowError:
        raise _too_large(field) from None


def _cell_score(text: str, field: str, form: LabelForm) -> float | None:
    if not text:
        return None
    if form.booleans and text.casefold() in _BOOLEANS:
        return _BOOLEANS[text.casefold()]
    if _DECIMAL.fullmatch(text) is None:
        raise FieldError(field, f"{quoted(text)} is not a number", "leave the cell empty where nobody scored")
    return _finite(float(text), field)


def _finite(number: float, field: str) -> float:
    if not math.isfinite(number):
        raise _too_large(field)
    return number


def _too_large(field: str) -> FieldError:
    return FieldError(field, "is too large for a score")


def _passage(item: JsonValue) -> str:
    if isinstance(item, str):
        return item
    if isinstance(item, dict):
        for key in _PASSAGE_KEYS:
            text = item.get(key)
            if isinstance(text, str):
                return text
        raise FieldError("source", f"a passage has no text; its keys are {listed(item)}", "put it under `text`")
    raise FieldError(
        "source", f"holds {json_type(item)}; it must be text or a list of passages", 'write "…" or ["…", "…"]'
    )


def _text_of(value: JsonValue, plain_role: str) -> str:
    if value is None or value in ([], {}):
        return ""
    messages = read_conversation(value)
    if messages is not None:
        return render_conversation(messages, plain_role)
    return canonical_text(value)
