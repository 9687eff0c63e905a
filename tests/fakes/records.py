"""Small builders of the project's own records, for tests of any room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentanvil.dataset import Row
from agentanvil.rubric import CheckDimension, CheckSpec, Dimension, Rubric, Scale
from agentanvil.verdict import Cell, Exchange, Outcome, Scored

FIVE = Scale(1, 5)


def row(index: int = 0, **changes: object) -> Row:
    values: dict[str, object] = {
        "index": index,
        "line": index + 1,
        "id": f"item-{index}",
        "request": "What is the capital of France?",
        "response": "Paris is the capital of France.",
    }
    return Row(**{**values, **changes})  # type: ignore[arg-type]


def rubric(
    *judged: str, checks: Sequence[str] = (), scale: Scale = FIVE, allow_na: bool = False, **changes: object
) -> Rubric:
    """A rubric of these dimensions, or of one called `quality`, with anchors at both ends, and at 3 of 1 to 5."""
    middle = {3: "in half of it"} if scale == FIVE else {}
    anchors = {scale.max: "in every part", **middle, scale.min: "in no part"}
    names = judged if judged or checks else ("quality",)
    values: dict[str, object] = {
        "id": "test-rubric",
        "version": 1,
        "scale": scale,
        "dimensions": (
            *(Dimension(name, f"Is {name} kept?", anchors, allow_na=allow_na) for name in names),
            *(CheckDimension(name, CheckSpec("regex")) for name in checks),
        ),
        "hash": "0" * 32,
    }
    return Rubric(**{**values, **changes})  # type: ignore[arg-type]


def outcome(
    item: int = 0,
    cells: Mapping[str, Cell] | None = None,
    *,
    repeat: int = 0,
    call: str = "joint",
    **changes: object,
) -> Outcome:
    values: dict[str, object] = {
        "task_id": f"item-{item}/{call}/{repeat}",
        "row": item,
        "item_id": f"item-{item}",
        "call": call,
        "repeat": repeat,
        "order": "-",
        "judge": "scripted:test",
        "cells": cells if cells is not None else {"faithfulness": Scored(4.0, ("Paris",), True, "named")},
        "exchanges": (Exchange(text="{}", stop="stop", input_tokens=10, output_tokens=5),),
    }
    return Outcome(**{**values, **changes})  # type: ignore[arg-type]
