"""The names of what a record says about the answer's worth, which no trace holds and no judge may see."""

from __future__ import annotations

from collections.abc import Iterable

from agentanvil.strict_json import JsonValue

_VERDICTS = frozenset(
    {
        "action_checks",
        "evaluation_criteria",
        "expected",
        "feedback_stats",
        "gradingResult",
        "ground_truth",
        "namedScores",
        "reference",
        "reference_example_id",
        "reward",
        "reward_info",
        "score",
        "scores",
        "target",
    }
)
_NESTED = ("info", "trace", "testCase")
_JUDGES = ("EVALUATOR", "evaluator")


def hidden_in(values: Iterable[JsonValue]) -> tuple[str, ...]:
    """Return the sorted names under which records or fragments hold verdicts; another judge's spans as `evaluator`."""
    found: set[str] = set()
    for value in values:
        if not isinstance(value, dict):
            continue
        for place in (value, *(value.get(key) for key in _NESTED)):
            if isinstance(place, dict):
                found |= {key for key in _VERDICTS & place.keys() if place[key] not in (None, [], {})}
        if isinstance(case := value.get("testCase"), dict) and case.get("assert"):
            found.add("assert")
        if value.get("type") in _JUDGES or value.get("span_kind") in _JUDGES:
            found.add("evaluator")
    return tuple(sorted(found))
