"""How often reports accuse a judge that has no fault, over 200 seeds each: no more often than they say.

The judge's readings go straight into what the verbs compute their reports from: over HTTP the same takes half an hour.
Twenty seeds go over HTTP in test_planted_faults.py, and 200 small probes in runner/test_probe_seeds.py. Three readings
in ten are off by one, since exact tests come nearest to their level where much moves.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest

from agentanvil.aggregate import CalibrationFigures
from agentanvil.aggregate.probe.findings import Finding
from tests.fakes.calibrated import calibrated
from tests.fakes.clean_judges import OF, ablated, probed, probed_in_pairs, repeated
from tests.fakes.graded import columns, grade
from tests.fakes.instruments import singled_out
from tests.fakes.synthetic_judges import DIMENSIONS, SyntheticJudge, synthetic_rows

pytestmark = pytest.mark.slow
SEEDS = 200
CLEAN = [SyntheticJudge(seed, slips=0.3) for seed in range(SEEDS)]
BAR = 0.6


def most(rate: float, of: int = SEEDS) -> int:
    """Return how many alarms a rate brings, and two Monte-Carlo errors more."""
    return math.floor(of * rate + 2 * math.sqrt(of * rate * (1 - rate)))


@pytest.mark.parametrize(("table", "count"), [(probed, 200), (probed_in_pairs, 120)])
def test_a_probe_finds_some_bias_of_a_clean_judge_in_one_table_of_twenty_at_most(
    table: Callable[[SyntheticJudge, int], tuple[Finding, ...]], count: int
) -> None:
    accused = sum(any(each.verdict == "bias found" for each in table(judge, count)) for judge in CLEAN)
    assert accused <= most(0.05)


@pytest.mark.parametrize("labelled", [True, False])
def test_an_ablation_finds_some_effect_of_idle_clauses_in_one_study_of_twenty_at_most(labelled: bool) -> None:
    assert sum(bool(ablated(judge, 100, labelled=labelled)) for judge in CLEAN) <= most(0.05)


def test_ambiguous_anchors_of_a_clean_judge_stand_out_in_one_table_of_twenty_at_most() -> None:
    alarms = 0
    for judge in CLEAN:
        readings = repeated(judge, synthetic_rows(300, judge.seed), 3)
        _, summary = grade(OF, columns(OF, 3, **{name: [row[name] for row in readings] for name in DIMENSIONS}), 3)
        alarms += bool(singled_out(summary))
    assert alarms <= most(0.05)


def test_a_calibration_trusts_a_good_judge_and_finds_a_bias_of_it_no_more_often_than_its_level_says() -> None:
    found = []
    for judge in CLEAN:
        rows = synthetic_rows(240, judge.seed)
        labels = [{name: [label] for name, label in row["labels"].items()} for row in rows]
        readings = repeated(judge, rows, 3)
        found.append(calibrated(OF, list(zip(readings, labels, strict=True)), repeats=3))
    assert {each.verdict for report in found for each in report.dimensions} == {"TRUSTED"}
    for place in range(len(DIMENSIONS)):
        intervals = [report.dimensions[place].bias.interval for report in found]
        outside = sum((each.low or 0) > 0 or (each.high or 0) < 0 for each in intervals)
        assert outside <= most(0.05)


def test_a_judge_on_the_bar_itself_is_rarely_trusted_and_rarely_not() -> None:
    verdicts = [each.verdict for seed in range(SEEDS) for each in on_the_bar(seed).dimensions]
    # Each side of a 95 % interval misses the truth in one case of forty.
    assert verdicts.count("TRUSTED") <= most(0.025, len(verdicts))
    assert verdicts.count("UNTRUSTED") <= most(0.025, len(verdicts))


def on_the_bar(seed: int) -> CalibrationFigures:
    """Return a calibration of a judge that is right in BAR of its readings and else guesses: its kappa is BAR."""
    chance = random.Random(f"bar {seed}")
    rows = []
    for _ in range(240):
        true = {name: chance.randint(1, 5) for name in DIMENSIONS}
        readings = {name: each if chance.random() < BAR else chance.randint(1, 5) for name, each in true.items()}
        rows.append((readings, {name: [each] for name, each in true.items()}))
    return calibrated(OF, rows, min_kappa=BAR)
