"""One line of a labels file → who said what: each column found its dimension, each value its number."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from agentanvil.dataset.faults import FieldError, json_type, listed
from agentanvil.dataset.fieldmap import OWN_FIELDS, PAIR_FIELDS
from agentanvil.dataset.records import WINNER
from agentanvil.dataset.values import LabelForm, read_object, read_scores
from agentanvil.errors import quoted
from agentanvil.strict_json import JsonValue

RATER, WEIGHT = "rater", "weight"
LABELS = "labels"
Ratings = Mapping[str, tuple[tuple[str, float], ...]]
"""Labels by dimension: (rater, label), by the raters' names."""

# What a person needs beside the label to give it; a sheet may carry it.
_SHOWN = frozenset({*OWN_FIELDS, *PAIR_FIELDS, "comment", "trace"} - {"id", LABELS})
_OF_THE_LINE = frozenset({"id", RATER, WEIGHT, LABELS})


@dataclass(frozen=True, slots=True)
class LabelsAsked:
    """What may be labelled: `ranges` says of each dimension, `overall` or `winner` between which ends, both included.

    `booleans`: a label is true or false, or a score. `winners`: it is a, b, tie, or a signed number.
    """

    ranges: Mapping[str, tuple[float, float]]
    booleans: bool = False
    winners: bool = False


@dataclass(frozen=True, slots=True)
class LabelLine:
    """One line. `rater` is empty where the line names none; `ratings` where nothing on it is labelled."""

    rater: str
    weight: float | None
    ratings: Ratings


class LabelColumns:
    """Reads lines whose columns are `id`, `rater`, `weight` and dimensions; what each means is worked out once.

    A dimension may also stand under `labels` (`labels.NAME` in CSV), and have a column a rater: `NAME.RATER`.
    """

    def __init__(self, asked: LabelsAsked, *, cells: bool) -> None:
        self._asked = asked
        self._form = LabelForm(cells, booleans=asked.booleans, winners=asked.winners)
        self._cells = cells
        self._known: dict[str, tuple[str, str] | None] = {}

    def read(self, fields: Mapping[str, JsonValue]) -> LabelLine:
        """Return what one line says. Raises FieldError."""
        rater = _rater(fields.get(RATER))
        found: dict[str, dict[str, float]] = {}
        for column, value in self._labelled(fields):
            place = self._place(column)
            if place is None:
                continue
            name, by = place
            for who, label in self._each(value, column, name, by or rater):
                if by and rater:
                    raise FieldError(column, "names a rater, and so does the column `rater`", "keep one of the two")
                if who in found.setdefault(name, {}):
                    raise FieldError(column, f"{quoted(name)} is labelled by {quoted(who)} twice on this line")
                found[name][who] = label
        ratings = {name: tuple(sorted(given.items())) for name, given in found.items() if given}
        return LabelLine(rater, _weight(fields.get(WEIGHT)), ratings)

    def _labelled(self, fields: Mapping[str, JsonValue]) -> Iterator[tuple[str, JsonValue]]:
        for column, value in fields.items():
            if column == LABELS:
                yield from read_object(value, LABELS, self._cells).items()
            elif column not in _OF_THE_LINE:
                yield column, value

    def _place(self, column: str) -> tuple[str, str] | None:
        """Return the dimension of a column and its rater, None for what is shown beside the labels."""
        if column not in self._known:
            self._known[column] = self._worked_out(column)
        return self._known[column]

    def _worked_out(self, column: str) -> tuple[str, str] | None:
        ranges = self._asked.ranges
        if column in ranges:
            return column, ""
        name, _, rater = column.partition(".")
        if name in ranges and rater.strip():
            return name, rater.strip()
        if name in _SHOWN:
            return None
        close = get_close_matches(column.strip().casefold(), [*ranges, RATER, WEIGHT], n=1)
        meant = f"; did you mean {quoted(close[0])}?" if close else ""
        known = f"the rubric has {listed(ranges)}; the other columns are id, {RATER} and {WEIGHT}"
        raise FieldError(column, f"is no dimension of the run{meant}", known)

    def _each(self, value: JsonValue, column: str, name: str, rater: str) -> Iterator[tuple[str, float]]:
        """Yield (rater, label): one, several by place, or several by name."""
        several: list[tuple[str, JsonValue]] = [(rater, value)]
        if isinstance(value, list | dict):
            if rater:
                raise FieldError(column, f"is {json_type(value)}, and the line names its rater", "write one label")
            several = list(value.items()) if isinstance(value, dict) else _by_place(value)
        for who, each in several:
            if isinstance(each, list | dict):
                raise FieldError(column, f"holds {json_type(each)}; a label is a number")
            for label in read_scores(each, column, self._form):
                self._hold(label, column, name)
                yield who, label

    def _hold(self, label: float, column: str, name: str) -> None:
        low, high = self._asked.ranges[name]
        if isinstance(label, bool) or low <= label <= high:
            if name == WINNER and not float(label).is_integer():
                raise FieldError(column, f"{label:g} is no winner", "write a, b or tie (or 1, -1, 0)")
            return
        hint = "in a gate, write true or false" if self._asked.booleans else "mend it, or leave the cell empty"
        raise FieldError(column, f"{label:g} is not on the scale {low:g} to {high:g}", hint)


def _by_place(values: list[JsonValue]) -> list[tuple[str, JsonValue]]:
    width = len(str(len(values)))  # so that ten raters stand in the order of their places
    return [(str(place).zfill(width), value) for place, value in enumerate(values, 1)]


def _rater(value: JsonValue) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise FieldError(RATER, f"is {json_type(value)}; a rater's name is text")


def _weight(value: JsonValue) -> float | None:
    given = read_scores(value, WEIGHT, LabelForm(cells=isinstance(value, str)))
    if not given:
        return None
    if len(given) > 1 or not (given[0] > 0 and math.isfinite(given[0])):
        raise FieldError(
            WEIGHT, f"{listed(f'{each:g}' for each in given)} is no weight", "a weight is 1 / a probability, so above 0"
        )
    return given[0]
