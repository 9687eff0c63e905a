"""A judge of pairs on the loopback that goes by the two texts it is shown, and rows for it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.fakes.server import Answer, Recorded, chat

PAIR_RUBRIC = """\
version: 1
id: pairs
mode: pairwise
scale: {min: 0, max: 2}
evidence: none
dimensions:
  - id: accuracy
    question: Is each claim true?
    anchors: {2: no error, 1: exactly one error, 0: two or more errors}
  - id: coverage
    question: Is each part answered?
    anchors: {2: no part is missing, 1: exactly one part is missing, 0: two or more parts are missing}
"""
_BLOCK = r"<<RESPONSE {slot} (\w+)>>\n(.*?)\n<<END RESPONSE {slot} \1>>"
Decide = Callable[[str, str], dict[str, tuple[str, int]]]
"""What is in the slots A and B → for each dimension which of them is better, and by how much."""


def pair_rubric(folder: Path) -> Path:
    path = folder / "pairs.yaml"
    path.write_text(PAIR_RUBRIC, encoding="utf-8")
    return path


def pair_rows(count: int, **more: Any) -> list[dict[str, Any]]:
    """Return pairs whose response_a is longer than response_b in two of three."""
    return [
        {
            "id": f"pair-{n}",
            "request": f"What is {n} + {n}?",
            "response_a": f"The answer is {2 * n}" + " indeed" * (1 if n % 3 else 0),
            "response_b": f"The answer is {2 * n}" + " indeed" * (0 if n % 3 else 1),
            **more,
        }
        for n in range(count)
    ]


def exchanged(row: dict[str, Any]) -> dict[str, Any]:
    """Return a pair with its sides exchanged."""
    swapped = {**row, "response_a": row["response_b"], "response_b": row["response_a"]}
    for one, other in (("model_a", "model_b"), ("model_b", "model_a")):
        if other in row:
            swapped[one] = row[other]
    return swapped


def slots(request: Recorded) -> tuple[str, str]:
    """Return what a request shows as A and as B."""
    user = request.json["messages"][1]["content"]
    found = [re.search(_BLOCK.format(slot=slot), user, re.DOTALL) for slot in "AB"]
    assert found[0] is not None
    assert found[1] is not None
    return found[0][2], found[1][2]


def judged(decide: Decide) -> Callable[[Recorded], Answer]:
    """Return a judge that answers every request by what `decide` makes of its two slots."""

    def answer(request: Recorded) -> Answer:
        schema = request.json["response_format"]["json_schema"]["schema"]
        verdicts = decide(*slots(request))
        reply = {name: {"winner": better, "margin": margin} for name, (better, margin) in verdicts.items()}
        if "winner" in schema["properties"]:
            return chat(json.dumps({**reply, "winner": next(iter(verdicts.values()))[0]}))
        (only,) = [name for name in verdicts if name in request.json["messages"][0]["content"]][:1]
        return chat(json.dumps(reply[only]))

    return answer


def by_length(a: str, b: str) -> dict[str, tuple[str, int]]:
    """Prefer the longer text on both dimensions, whatever its place."""
    better = "tie" if len(a) == len(b) else "A" if len(a) > len(b) else "B"
    return {"accuracy": (better, 2), "coverage": (better, 1)}


def always_first(a: str, b: str) -> dict[str, tuple[str, int]]:
    """Prefer whatever is shown first."""
    return {"accuracy": ("A", 1), "coverage": ("A", 1)}
