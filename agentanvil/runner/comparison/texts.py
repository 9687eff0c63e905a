"""Requests and responses of compared items, from the runs' data files where these are at hand."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import replace

from agentanvil.aggregate.comparison.columns import JoinedColumns
from agentanvil.aggregate.comparison.items import Fallen
from agentanvil.aggregate.comparison.tally import Regression
from agentanvil.dataset import Row
from agentanvil.hashing import derive_seed
from agentanvil.runner.run_view import RunData

MAX_CHARACTERS = 600
EXAMPLES = 3


def other_requests(joined: JoinedColumns, a: RunData, b: RunData) -> tuple[int, tuple[str, ...]] | str:
    """Return how many items have another request in B than in A, with examples, or why nobody can tell."""
    if a.rows is None or b.rows is None:
        return f"requests were not compared: {a.reason or b.reason}"
    requests = array("q", bytes(8 * len(joined.a.ids)))
    for row in a.rows():
        place = joined.a.ids.get(row.id)
        if place is not None:
            requests[place] = _key(row)
    found, examples = 0, list[str]()
    for row in b.rows():
        place = joined.a.ids.get(row.id) if row.id in joined.b.ids else None
        if place is not None and requests[place] != _key(row):
            found += 1
            if len(examples) < EXAMPLES:
                examples.append(row.id)
    return found, tuple(examples)


def with_texts(
    regressions: Sequence[Regression], fallen: Sequence[Fallen], a: RunData, b: RunData
) -> tuple[tuple[Regression, ...], str | None]:
    """Return the regressions with their texts, cut to what can be read, and why some have none."""
    rows_a = _rows(a, [item.row_a for item in fallen])
    rows_b = _rows(b, [item.row_b for item in fallen])
    told = tuple(
        _with_rows(regression, rows_a.get(item.row_a), rows_b.get(item.row_b))
        for regression, item in zip(regressions, fallen, strict=True)
    )
    reasons = dict.fromkeys(data.reason for data in (a, b) if data.rows is None)
    return told, "; ".join(reasons) if reasons and fallen else None


def cut(text: str) -> str:
    """Return a text's beginning; what was left out is told."""
    rest = len(text) - MAX_CHARACTERS
    return text if rest <= 0 else f"{text[:MAX_CHARACTERS]} … [{rest:,} more characters]"


def _key(row: Row) -> int:
    return derive_seed("request", row.request)


def _rows(data: RunData, wanted: Sequence[int]) -> Mapping[int, Row]:
    """Read the data file up to the last of the wanted rows."""
    left = set(wanted)
    found: dict[int, Row] = {}
    if data.rows is None or not left:
        return found
    for row in data.rows():
        if row.index in left:
            found[row.index] = row
            left.discard(row.index)
            if not left:
                break
    return found


def _with_rows(regression: Regression, a: Row | None, b: Row | None) -> Regression:
    request = a or b
    return replace(
        regression,
        request=None if request is None else cut(request.request),
        a=replace(regression.a, response=_response(a), rival_response=_rival(a)),
        b=replace(regression.b, response=_response(b), rival_response=_rival(b)),
    )


def _response(row: Row | None) -> str | None:
    return None if row is None else cut(row.response)


def _rival(row: Row | None) -> str | None:
    return None if row is None or row.rival is None else cut(row.rival.response)
