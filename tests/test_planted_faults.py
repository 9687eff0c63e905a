"""Judges with one known fault each, measured by every verb over HTTP: each fault is found, and nothing else is."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.instruments import Gap, Instruments, disagreements, singled_out
from tests.fakes.server import FakeServer
from tests.fakes.synthetic_judges import SyntheticJudge, synthetic_pairs, synthetic_rows, write_synthetic_rubric

pytestmark = pytest.mark.slow
SEEDS = range(20)


@dataclass(frozen=True)
class Fault:
    """What is wrong with a judge, and all that each instrument is to say of it."""

    judge: dict[str, Any] = field(default_factory=dict)
    probe: frozenset[tuple[str, str]] = frozenset()
    calibrate: frozenset[tuple[str, str]] = frozenset()
    anchors: frozenset[Gap] = frozenset()


FAULTS = {
    "none": Fault(),
    "long answers gain a point": Fault(
        {"long_bonus": 1},
        probe=frozenset({("verbosity", "accuracy")}),
        calibrate=frozenset({("accuracy", "lenient")}),
    ),
    "tone leaks into accuracy": Fault({"leaks": True}, calibrate=frozenset({("accuracy", "untrusted")})),
    "anchor 3 is read by chance": Fault(
        {"noisy_anchor": 3}, anchors=frozenset({("accuracy", 2, 3), ("accuracy", 3, 4)})
    ),
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_each_fault_is_found_by_what_is_made_for_it_and_nothing_else_is(
    tmp_path: Path, fault: Fault, seed: int
) -> None:
    judge = SyntheticJudge(seed, **fault.judge)
    # Only a rubric that does not exclude tone lets it leak.
    rubric = write_synthetic_rubric(tmp_path, excluding=not judge.leaks)
    with FakeServer(judge.answer) as server:
        instruments = Instruments(tmp_path, server, rubric)
        biases = instruments.probe(synthetic_rows(120, seed), seed)
        summary, calibration = instruments.grade(synthetic_rows(300, seed), repeats=3)
    assert biases == fault.probe
    assert disagreements(calibration) == fault.calibrate
    assert singled_out(summary) == fault.anchors


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("fault", list(FAULTS.values())[1:], ids=list(FAULTS)[1:])
def test_an_ablation_finds_the_exclusion_that_keeps_tone_out_and_no_other_clause(
    tmp_path: Path, fault: Fault, seed: int
) -> None:
    judge = SyntheticJudge(seed, **fault.judge)
    with FakeServer(judge.answer) as server:
        found = Instruments(tmp_path, server, write_synthetic_rubric(tmp_path)).ablate(synthetic_rows(100, seed))
    assert found == ({"accuracy.out.1": "earns_its_tokens"} if judge.leaks else {})


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("first_pick", [0.0, 0.2])
def test_a_preference_for_the_first_place_is_found_and_nothing_else_is(
    tmp_path: Path, first_pick: float, seed: int
) -> None:
    judge = SyntheticJudge(seed, first_pick=first_pick)
    with FakeServer(judge.answer) as server:
        instruments = Instruments(tmp_path, server, write_synthetic_rubric(tmp_path))
        biases = instruments.probe(synthetic_pairs(120, seed), seed)
        clauses = instruments.ablate(
            synthetic_pairs(60, seed), ("accuracy", "rules", "evidence"), mode="pairwise", order="both"
        )
        _, calibration = instruments.grade(synthetic_pairs(500, seed), mode="pairwise", order="fixed")
    assert biases == ({("position", "winner")} if first_pick else set())
    assert clauses == {}
    assert disagreements(calibration) == ({("winner", "lenient")} if first_pick else set())
