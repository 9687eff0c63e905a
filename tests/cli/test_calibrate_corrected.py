"""What the terminal says of corrected estimates."""

from __future__ import annotations

import io
import random

import pytest
from rich.console import Console
from syrupy.assertion import SnapshotAssertion

from agentanvil.aggregate import CorrectedSummary, CorrectedTally, Frame, reduce_item
from agentanvil.cli.calibrate_corrected import corrected_blocks
from tests.fakes.graded import Score, item, plan, rubric


def summary(
    labelled: int, *, shifted: bool = False, weight: float | None = None, level: float = 0.95
) -> CorrectedSummary:
    of = rubric("accuracy", "instruction_following", gate={"accuracy": 4})
    shape = plan(of)
    frame = Frame.of(of, shape)
    tally, rng = CorrectedTally(frame), random.Random(3)
    for index in range(200):
        scores: dict[str, Score] = {}
        labels = {}
        for name in ("accuracy", "instruction_following"):
            human = rng.randint(2 + 2 * (shifted and index < labelled), 5)
            scores[name] = None if index == 150 else min(5, human + rng.choice([0, 0, 1]))
            labels[name] = (float(human),)
        tally.add(reduce_item(frame, item(shape, index, scores)), labels if index < labelled else {}, weight)
    return tally.result(level)


def shown(of: CorrectedSummary, width: int = 110) -> str:
    stream = io.StringIO()
    console = Console(file=stream, width=width)
    for block in corrected_blocks(of):
        console.print(block)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())


@pytest.mark.parametrize("width", [80, 110])
def test_corrected_estimates_as_they_are_shown(snapshot: SnapshotAssertion, width: int) -> None:
    assert shown(summary(60), width) == snapshot


def test_a_shift_and_few_labels_are_said_below(snapshot: SnapshotAssertion) -> None:
    assert shown(summary(20, shifted=True)) == snapshot


def test_weights_change_the_targets_and_the_level_its_column(snapshot: SnapshotAssertion) -> None:
    assert shown(summary(60, weight=3.0, level=0.9)) == snapshot


@pytest.mark.parametrize("labelled", [0, 200])
def test_nothing_is_shown_where_nothing_or_everything_is_labelled(labelled: int) -> None:
    assert corrected_blocks(summary(labelled)) == []
