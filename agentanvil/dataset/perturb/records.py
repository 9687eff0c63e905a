"""A row → a record of JSON lines that reads back as the same row, whatever file and mapping it came from."""

from __future__ import annotations

from agentanvil.dataset.fields import HIDDEN_FIELDS
from agentanvil.dataset.records import Contender, Row
from agentanvil.strict_json import JsonValue


def row_record(row: Row) -> dict[str, JsonValue]:
    """Return the record, to be read without a mapping. Raises ValueError for an agent's run, which has no such form.

    Hidden fields keep their names, and stay hidden.
    """
    own: dict[str, JsonValue] = {"id": row.id, "request": row.request}
    if row.rival is None:
        own |= _side(Contender(row.response, row.model, row.trace), "")
    else:
        own |= _side(Contender(row.response, row.model, row.trace), "_a") | _side(row.rival, "_b")
    own |= {
        "source": list(row.source),
        "labels": {name: list(given) for name, given in row.labels.items()},
        "meta": dict(row.meta),
    }
    if row.expected is not None or HIDDEN_FIELDS & row.extra.keys():
        own["expected"] = row.expected
    return {**row.extra, **own}


def _side(side: Contender, suffix: str) -> dict[str, JsonValue]:
    if side.trace is not None:
        raise ValueError("an agent's run is not written as a row")
    return {f"response{suffix}": side.response, f"model{suffix}": side.model}
