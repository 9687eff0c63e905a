"""The names of what a record says about the answer's worth, which no trace holds and no judge may see."""

from __future__ import annotations

from agentanvil.dataset.fields import HIDDEN_FIELDS
from agentanvil.strict_json import JsonValue

_VERDICTS = HIDDEN_FIELDS | {
    "action_checks",
    "annotations",
    "evaluation_criteria",
    "expected_actions",
    "feedback_stats",
    "gradingResult",
    "namedScores",
    "reference_example_id",
    "reference_outputs",
    "reward",
    "reward_info",
    "score",
    "scores",
}
_NESTED = ("info", "metadata", "trace", "testCase", "vars")
_JUDGES = ("EVALUATOR", "evaluator")
_MEMBERS = ("samples", "simulations", "observations", "tasks")


def hidden_in(value: JsonValue) -> tuple[str, ...]:
    """Return the sorted names under which a record, or those in a list or a container, tells what an answer is worth.

    The spans of another judge go by the name `evaluator`.
    """
    found: set[str] = set()
    for record in _records_in(value):
        if not isinstance(record, dict):
            continue
        for place in (record, *(record.get(key) for key in _NESTED)):
            if isinstance(place, dict):
                found |= {key for key in _VERDICTS & place.keys() if place[key] not in (None, [], {})}
        if isinstance(case := record.get("testCase"), dict) and case.get("assert"):
            found.add("assert")
        if record.get("type") in _JUDGES or record.get("span_kind") in _JUDGES:
            found.add("evaluator")
    return tuple(sorted(found))


def _records_in(value: JsonValue) -> list[JsonValue]:
    if isinstance(value, list):
        return value
    found: list[JsonValue] = [value]
    if isinstance(value, dict):
        for key in _MEMBERS:
            inner = value.get(key)
            found += inner if isinstance(inner, list) else []
        results = value.get("results")
        rows = results.get("results") if isinstance(results, dict) else None
        found += rows if isinstance(rows, list) else []
    return found
