"""When a judge is trusted, and how many further labels would tell."""

from __future__ import annotations

import pytest

from agentanvil.aggregate.measured import Measured
from agentanvil.aggregate.trust import further_labels, trust_of
from agentanvil.stats import Interval
from tests.fakes.calibrated import calibrated
from tests.fakes.graded import rubric


def kappa(value: float | None, low: float | None, high: float | None, n: int = 100) -> Measured:
    reason = None if low is not None else "fewer than two items"
    return Measured(value, n, None if value is not None else "one label", Interval(low, high, 0.95, "boot", reason))


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.6, 0.9, "TRUSTED"),
        (0.61, 0.62, "TRUSTED"),
        (0.5999, 0.9, "INCONCLUSIVE"),
        (0.3, 0.6, "INCONCLUSIVE"),
        (0.3, 0.5999, "UNTRUSTED"),
        (-0.2, 0.1, "UNTRUSTED"),
    ],
)
def test_the_whole_interval_decides(low: float, high: float, verdict: str) -> None:
    found, reading, further = trust_of(kappa((low + high) / 2, low, high), 0.6)
    assert found == verdict
    assert (further is None) == (verdict != "INCONCLUSIVE")
    assert "0.6" in reading


def test_the_labels_that_would_decide_follow_from_the_width() -> None:
    # Kappa 0.7, lower end 0.5: half-width 0.2, the bar 0.1 away. It must halve: four times 100 items, 300 more.
    assert further_labels(kappa(0.7, 0.5, 0.85), 0.6).items == 300
    # Below the bar the upper end counts: 0.3 wide, 0.1 away, nine times as many.
    assert further_labels(kappa(0.5, 0.4, 0.8), 0.6).items == 800
    assert further_labels(kappa(0.7, 0.5999, 0.8), 0.6).items == 1


def test_on_the_threshold_no_number_of_labels_would_tell() -> None:
    found = further_labels(kappa(0.6, 0.5, 0.7), 0.6)
    assert found.items is None
    assert "no number of labels" in (found.reason or "")


@pytest.mark.parametrize("found", [kappa(None, None, None), kappa(1.0, None, None, n=1), kappa(None, None, None, n=0)])
def test_without_an_interval_nothing_is_decided_and_nothing_promised(found: Measured) -> None:
    verdict, reading, further = trust_of(found, 0.6)
    assert verdict == "INCONCLUSIVE"
    assert "cannot be told" in reading
    assert further is not None
    assert further.items is None
    assert further.reason


def test_more_labels_of_the_same_kind_decide_as_foretold() -> None:
    pairs = [(1, 1), (2, 2), (3, 4), (4, 3), (5, 5), (5, 3), (1, 2), (4, 4), (2, 4)]
    rows = [({"accuracy": score}, {"accuracy": [label]}) for score, label in pairs]
    few = calibrated(rubric("accuracy"), rows * 2).dimensions[0]
    assert few.verdict == "INCONCLUSIVE"
    assert few.further is not None
    assert few.further.items is not None
    times = -(-(few.labelled + few.further.items) // len(rows)) + 1
    assert calibrated(rubric("accuracy"), rows * times).dimensions[0].verdict == "TRUSTED"


def test_three_labels_that_agree_do_not_make_a_judge_trusted() -> None:
    rows = [({"accuracy": score}, {"accuracy": [score]}) for score in (1, 3, 5)]
    assert calibrated(rubric("accuracy"), rows).dimensions[0].verdict == "INCONCLUSIVE"
    assert calibrated(rubric("accuracy"), rows * 10).dimensions[0].verdict == "TRUSTED"


def test_the_bar_is_the_one_that_was_asked() -> None:
    rows = [({"accuracy": a}, {"accuracy": [b]}) for a, b in ((1, 1), (5, 4), (3, 3), (2, 3))] * 20
    assert calibrated(rubric("accuracy"), rows, min_kappa=0.6).dimensions[0].verdict == "TRUSTED"
    assert calibrated(rubric("accuracy"), rows, min_kappa=0.99).dimensions[0].verdict == "UNTRUSTED"
