"""Small rubrics as text: a valid one, and the same with a part changed."""

from __future__ import annotations

HEAD = "version: 1\nid: small\nscale: {min: 1, max: 5}\n"
ANCHORS = "{5: no error, 3: exactly one error, 1: two or more errors}"


def judged(dimension: str = "accuracy", *, question: str = "Is each claim true?", more: str = "") -> str:
    """Return one judged dimension as a flow mapping; `more` holds further keys."""
    body = more or f"anchors: {ANCHORS}"
    return f"{{id: {dimension}, question: {question!r}, {body}}}"


def rubric_text(*dimensions: str, extra: str = "", head: str = HEAD) -> str:
    """Return a rubric with these dimensions (flow mappings), `extra` lines standing before them."""
    lines = [head.rstrip(), *([extra] if extra else []), "dimensions:"]
    return "\n".join([*lines, *(f"  - {dimension}" for dimension in dimensions or (judged(),))]) + "\n"
