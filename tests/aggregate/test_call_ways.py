from __future__ import annotations

from dataclasses import replace

import pytest

from agentanvil.aggregate import CallWays, ItemOutcomes, Summariser
from agentanvil.plan import Plan
from agentanvil.rubric import Rubric
from agentanvil.verdict import JudgeError, Scored
from tests.fakes.graded import Pair, compare, compared, grade_by, item, plan, rubric


def both_ways(shape: Plan, index: int, own: list[float | None], other: list[float | None]) -> ItemOutcomes:
    """One row asked in both ways: dimension `a` scores `own` and `other`, repeat by repeat, and `b` 3 always."""
    row = item(shape, index, {"a": own, "b": [3] * len(own)})
    outcomes = []
    for slot, found in zip(shape.slots(), row.outcomes, strict=True):
        if slot.call.compared and "a" in slot.call.dimensions:
            score = other[slot.repeat]
            cell = JudgeError("timeout") if score is None else Scored(score)
            outcomes.append(replace(found, cells={**found.cells, "a": cell}))
        else:
            outcomes.append(found)
    return ItemOutcomes(index, row.item_id, outcomes)


def ways(of: Rubric, *rows: tuple[list[float | None], list[float | None]]) -> CallWays:
    shape = plan(of, len(rows[0][0]), ways="both")
    _, summary = grade_by(
        Summariser(of, shape, seed=3), [both_ways(shape, index, *row) for index, row in enumerate(rows)]
    )
    assert [found.id for found in summary.call_ways] == ["a", "b"]
    return summary.call_ways[0]


@pytest.mark.parametrize("calls", ["joint", "split"])
def test_the_ways_are_told_apart_whichever_is_the_rubrics_own(calls: str) -> None:
    found = ways(rubric("a", "b", calls=calls), ([5], [3]), ([4], [4]), ([5], [4]))
    own, other = (14 / 3, 11 / 3)
    joint, split = (own, other) if calls == "joint" else (other, own)
    assert (found.joint.value, found.split.value) == (pytest.approx(joint), pytest.approx(split))
    assert (found.difference.value, found.difference.n) == (pytest.approx(split - joint), 3)
    assert found.equal.value == pytest.approx(1 / 3)
    assert found.interval.low is not None
    assert found.interval.high is not None
    assert found.interval.low < split - joint < found.interval.high


def test_repeats_are_compared_with_themselves_and_items_count_once() -> None:
    found = ways(rubric("a", "b"), ([5, None], [3, 1]), ([4, 2], [4, 4]), ([1, 1], [None, None]))
    assert (found.difference.value, found.missing) == ((-2 + 1) / 2, 1)
    assert found.equal.value == pytest.approx((0 + 1 / 2) / 2)


def test_the_compared_way_is_no_part_of_the_result() -> None:
    of = rubric("a", "b")
    shape = plan(of, ways="both")
    (result,), summary = grade_by(Summariser(of, shape, seed=3), [both_ways(shape, 0, [5], [None])])
    assert (result.overall, summary.coverage.expected, summary.coverage.share) == (3, 2, 1)
    assert result.gap is None
    assert summary.call_ways[0].difference.reason


def test_pairs_are_compared_too() -> None:
    of = rubric("a", "b", mode="pairwise")
    _, summary = compared(of, Pair({"a": [2, 1], "b": [0, 0]}), ways="both")
    assert [(found.id, found.joint.value, found.difference.value) for found in summary.call_ways] == [
        ("a", 1.5, 0),
        ("b", 0, 0),
    ]
    assert compare(plan(of, ways="both"), 0, Pair({"a": [2, 1], "b": [0, 0]})).outcomes[-1].call == "b"


def test_one_way_alone_has_nothing_to_compare() -> None:
    of = rubric("a", "b")
    _, summary = grade_by(Summariser(of, plan(of), seed=3), [item(plan(of), 0, {"a": 3, "b": 4})])
    assert summary.call_ways == ()
