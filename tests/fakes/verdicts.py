"""A judge endpoint's side of a run: replies that keep whatever contract a request carries."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.fakes.server import Answer, Recorded, chat, error

RUBRIC = """\
version: 1
id: small
scale: {min: 1, max: 5}
calls: CALLS
dimensions:
  - id: accuracy
    question: Is each claim true?
    anchors: {5: no error, 3: exactly one error, 1: two or more errors}
  - id: coverage
    question: Is each part answered?
    anchors: {5: no part is missing, 3: exactly one part is missing, 1: two or more parts are missing}
"""
CODE_RUBRIC = """\
version: 1
id: code
scale: {min: 0, max: 1}
dimensions:
  - {id: short, check: {type: max_words, limit: 50}}
"""


def small_rubric(folder: Path, calls: str = "joint") -> Path:
    """Write a rubric of two dimensions, asked about jointly or in calls of their own."""
    path = folder / f"{calls}.yaml"
    path.write_text(RUBRIC.replace("CALLS", calls), encoding="utf-8")
    return path


def write_rows(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "rows.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def verdict_for(schema: dict[str, Any], score: int = 4) -> Any:
    """Return an object that fits a verdict's schema: every score or margin is `score`, every quote the word `the`.

    Every gate is passed, and slot A is better.
    """
    if schema.get("type") == "object":
        return {name: verdict_for(part, score) for name, part in schema["properties"].items()}
    if "enum" in schema:
        return score if isinstance(schema["enum"][0], int) else schema["enum"][0]
    if schema.get("type") == "boolean":
        return True
    return ["the"] if schema.get("type") == "array" else "so it is"


def graded(request: Recorded, score: int = 4) -> Answer:
    """Answer a request that carries a JSON schema with a verdict that keeps it."""
    return chat(json.dumps(verdict_for(request.json["response_format"]["json_schema"]["schema"], score)))


def refusing(parameter: str, answer: Callable[[Recorded], Answer] = graded) -> Callable[[Recorded], Answer]:
    """Refuse every request that carries `parameter`; answer the others."""

    def choose(request: Recorded) -> Answer:
        if parameter in request.json:
            message = f"Unsupported parameter: '{parameter}' is not supported with this model."
            return error(400, message, code="unsupported_parameter", param=parameter)
        return answer(request)

    return choose
