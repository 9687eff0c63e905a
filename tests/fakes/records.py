"""Small builders of the project's own records, for tests of any room."""

from __future__ import annotations

from collections.abc import Mapping

from agentanvil.dataset import Row
from agentanvil.rubric import Dimension, Rubric, Scale
from agentanvil.verdict import Cell, Exchange, Outcome, Scored


def row(index: int = 0, **changes: object) -> Row:
    values: dict[str, object] = {
        "index": index,
        "line": index + 1,
        "id": f"item-{index}",
        "request": "What is the capital of France?",
        "response": "Paris is the capital of France.",
    }
    return Row(**{**values, **changes})  # type: ignore[arg-type]


def rubric(*dimensions: str, **changes: object) -> Rubric:
    values: dict[str, object] = {
        "id": "test-rubric",
        "version": 1,
        "scale": Scale(1, 5),
        "dimensions": tuple(
            Dimension(name, f"Is {name} kept?", {5: "every part", 3: "one part missing", 1: "no part"})
            for name in dimensions or ("faithfulness", "completeness")
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
