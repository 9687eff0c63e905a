"""A reply schema for a small model on a CPU: the same contract, with bounds on how much is written."""

from __future__ import annotations

from collections.abc import Mapping

EVIDENCE_CHARS = 70
REASON_CHARS = 60


def tighten(schema: Mapping[str, object]) -> dict[str, object]:
    """Return the schema with at most one quote of 70 characters and a reason of 60; scores are left alone.

    The bounds become part of the grammar, so that a model which repeats itself ends all the same. A quote cut at
    the bound is still found in the judged text.
    """
    tight: dict[str, object] = {}
    for key, value in schema.items():
        tight[key] = tighten(value) if isinstance(value, Mapping) else value
    kind = schema.get("type")
    if kind == "array":
        return {**tight, "minItems": 1, "maxItems": 1, "items": _bounded(tight["items"], EVIDENCE_CHARS)}
    if kind == "string" and "enum" not in schema:
        return {**tight, "maxLength": REASON_CHARS}
    return tight


def _bounded(items: object, most: int) -> dict[str, object]:
    return {**items, "maxLength": most} if isinstance(items, dict) else {"type": "string", "maxLength": most}
