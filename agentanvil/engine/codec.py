"""Outcome ↔ one JSON object. Fields at their default are left out, so a journal line stays short."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from agentanvil.verdict import Cell, Exchange, InputFault, JudgeError, NotApplicable, NotRun, Outcome, Scored

_CELLS: Mapping[str, type[Scored | NotApplicable | JudgeError | InputFault | NotRun]] = {
    cell.state: cell for cell in (Scored, NotApplicable, JudgeError, InputFault, NotRun)
}
_TUPLES = frozenset({"evidence", "flags", "rival_evidence"})


def _defaults(record: type) -> tuple[tuple[str, object], ...]:
    return tuple((f.name, f.default) for f in fields(record))


_CELL_FIELDS = {cell: _defaults(cell) for cell in _CELLS.values()}
_EXCHANGE_FIELDS = _defaults(Exchange)


def _short(record: object, layout: tuple[tuple[str, object], ...]) -> dict[str, object]:
    return {name: value for name, default in layout if (value := getattr(record, name)) != default}


def encode(outcome: Outcome) -> dict[str, object]:
    """Return JSON data for one outcome; `decode` is its inverse."""
    line: dict[str, object] = {
        "task": outcome.task_id,
        "row": outcome.row,
        "id": outcome.item_id,
        "call": outcome.call,
        "repeat": outcome.repeat,
        "order": outcome.order,
        "judge": outcome.judge,
        "cells": {
            dimension: {"state": cell.state, **_short(cell, _CELL_FIELDS[type(cell)])}
            for dimension, cell in outcome.cells.items()
        },
        "exchanges": [_short(exchange, _EXCHANGE_FIELDS) for exchange in outcome.exchanges],
    }
    if outcome.labels:
        line["labels"] = dict(outcome.labels)
    if outcome.flags:
        line["flags"] = outcome.flags
    if outcome.stated:
        line["stated"] = outcome.stated
    if outcome.models:
        line["models"] = outcome.models
    if outcome.because:
        line["because"] = outcome.because
    if outcome.group:
        line["group"] = outcome.group
    return line


def decode(line: Mapping[str, Any]) -> Outcome:
    """Rebuild an outcome. Raises KeyError, TypeError or ValueError on a line that is not one."""
    return Outcome(
        task_id=line["task"],
        row=line["row"],
        item_id=line["id"],
        call=line["call"],
        repeat=line["repeat"],
        order=line["order"],
        judge=line["judge"],
        cells={dimension: _cell(cell) for dimension, cell in line["cells"].items()},
        exchanges=tuple(Exchange(**exchange) for exchange in line["exchanges"]),
        labels={name: tuple(ratings) for name, ratings in line.get("labels", {}).items()},
        flags=tuple(line.get("flags", ())),
        stated=line.get("stated"),
        models=tuple(line.get("models", ())),
        group=line.get("group", ""),
        because=line.get("because", ""),
    )


def _cell(data: Mapping[str, Any]) -> Cell:
    kwargs: dict[str, Any] = {k: tuple(v) if k in _TUPLES else v for k, v in data.items() if k != "state"}
    return _CELLS[data["state"]](**kwargs)
