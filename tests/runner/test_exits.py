"""One function decides, and design section 8 is its table."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agentanvil.rubric import GateTerms
from agentanvil.runner.exits import Ending, Exit, run_exit, study_exit
from tests.fakes.graded import ERROR, NA, Score, columns, grade, rubric

ENDINGS: tuple[Ending, ...] = ("complete", "budget", "stopped", "running", "interrupted")


def decide(
    scores: list[Score], ending: Ending = "complete", *, gate: float | None = None, min_coverage: float = 1.0
) -> Exit:
    of = rubric("a", gate=None if gate is None else {"a": gate})
    _, summary = grade(of, columns(of, a=scores))
    return run_exit(ending, summary, min_coverage)


def test_the_codes_are_those_of_the_design_and_all_different() -> None:
    codes = {"OK": 0, "GATE_FAILED": 1, "USAGE": 2, "MISSING": 3, "INCONCLUSIVE": 4, "INTERNAL": 5, "INTERRUPTED": 130}
    assert {name: int(code) for name, code in Exit.__members__.items()} == codes


@pytest.mark.parametrize(
    ("scores", "gate", "expected"),
    [
        pytest.param([5, 4], None, Exit.OK, id="done-without-a-gate"),
        pytest.param([1, 1], None, Exit.OK, id="low-scores-are-no-failure-without-a-gate"),
        pytest.param([5, 4], 4, Exit.OK, id="passed"),
        pytest.param([5, 3], 4, Exit.GATE_FAILED, id="O-F01-one-fails"),
        pytest.param([1, 1], 4, Exit.GATE_FAILED, id="O-F01-all-fail"),
        pytest.param([5, ERROR], None, Exit.MISSING, id="a-verdict-is-missing"),
        pytest.param([5, ERROR], 4, Exit.MISSING, id="undecided-is-not-passed"),
        pytest.param([3, ERROR], 4, Exit.GATE_FAILED, id="more-verdicts-cannot-mend-a-failure"),
        pytest.param([ERROR, ERROR], None, Exit.MISSING, id="O-F03-no-verdict-at-all"),
        pytest.param([NA, 5], 4, Exit.OK, id="what-does-not-apply-is-left-out"),
        pytest.param([NA, NA], 4, Exit.MISSING, id="O-F05-a-gate-that-let-nothing-through"),
        pytest.param([NA, NA], None, Exit.OK, id="nothing-applies-and-nothing-is-asked"),
        pytest.param([1, 1], 1, Exit.OK, id="O-E14-the-lowest-threshold"),
    ],
)
def test_a_complete_run(scores: list[Score], gate: float | None, expected: Exit) -> None:
    assert decide(scores, gate=gate) == expected


@pytest.mark.parametrize(
    ("scores", "gate", "least", "expected"),
    [
        ([5, 5, 5, ERROR], None, 0.75, Exit.OK),
        ([5, 5, 5, ERROR], None, 0.76, Exit.MISSING),
        ([5, 5, 5, ERROR], 4, 0.75, Exit.OK),
        ([ERROR, ERROR], None, 0.0, Exit.OK),
        ([ERROR, ERROR], 4, 0.0, Exit.MISSING),
        ([ERROR, NA], 4, 0.5, Exit.MISSING),
        ([5, 5, 5, 3], 4, 0.75, Exit.GATE_FAILED),
    ],
)
def test_a_run_that_may_lack_verdicts(scores: list[Score], gate: float | None, least: float, expected: Exit) -> None:
    assert decide(scores, gate=gate, min_coverage=least) == expected


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(
    ("scores", "gate", "usual"),
    [([5, 5], 4, Exit.OK), ([5, 1], 4, Exit.GATE_FAILED), ([5, ERROR], None, Exit.MISSING)],
)
def test_how_a_run_ended(ending: Ending, scores: list[Score], gate: float | None, usual: Exit) -> None:
    expected = {"interrupted": Exit.INTERRUPTED}.get(ending, usual)
    if ending in {"budget", "stopped"} and usual is Exit.OK:
        expected = Exit.MISSING
    assert decide(scores, ending, gate=gate) == expected


@pytest.mark.parametrize(
    ("read", "least", "expected"), [(1.0, 1.0, Exit.OK), (0.99, 1.0, Exit.MISSING), (0.9, 0.9, Exit.OK)]
)
def test_what_could_not_be_read_has_no_verdict(read: float, least: float, expected: Exit) -> None:
    of = rubric("a", gate={"a": 4})
    _, summary = grade(of, columns(of, a=[5, 5]))
    assert run_exit("complete", summary, least, read=read) is expected


@pytest.mark.parametrize(
    ("scores", "ending", "least", "expected"),
    [
        pytest.param([5] * 40, "complete", 1.0, Exit.OK, id="passed"),
        pytest.param([5] * 3, "complete", 1.0, Exit.INCONCLUSIVE, id="open"),
        pytest.param([2] * 40, "complete", 1.0, Exit.GATE_FAILED, id="failed"),
        pytest.param([5] * 200 + [ERROR], "complete", 1.0, Exit.MISSING, id="missing-verdicts-though-it-would-pass"),
        pytest.param([5] * 200 + [ERROR], "complete", 0.99, Exit.OK, id="missing-ones-that-are-allowed"),
        pytest.param([5] * 3 + [ERROR], "complete", 1.0, Exit.MISSING, id="missing-before-open"),
        pytest.param([5] * 3 + [ERROR], "complete", 0.5, Exit.INCONCLUSIVE, id="open-with-missing-ones-allowed"),
        pytest.param([2] * 40 + [ERROR], "complete", 1.0, Exit.GATE_FAILED, id="failed-before-missing"),
        pytest.param([5] * 3, "budget", 1.0, Exit.MISSING, id="stopped-before-open"),
        pytest.param([2] * 40, "interrupted", 1.0, Exit.INTERRUPTED, id="interrupted"),
        pytest.param([NA, NA], "complete", 1.0, Exit.INCONCLUSIVE, id="O-F05-nothing-that-the-gate-asks-for"),
    ],
)
def test_a_gate_on_figures(scores: list[Score], ending: Ending, least: float, expected: Exit) -> None:
    of = replace(rubric("a", gate={"a": 4}), terms=GateTerms(0.95))
    assert run_exit(ending, grade(of, columns(of, a=scores))[1], least) is expected


@pytest.mark.parametrize(
    ("ending", "read", "least", "expected"),
    [
        ("complete", 1.0, 1.0, Exit.OK),
        ("interrupted", 1.0, 1.0, Exit.INTERRUPTED),
        ("budget", 1.0, 0.0, Exit.MISSING),
        ("stopped", 1.0, 0.0, Exit.MISSING),
        ("complete", 0.5, 1.0, Exit.MISSING),
        ("complete", 0.5, 0.5, Exit.OK),
    ],
)
def test_a_study_fails_for_nothing_that_it_finds(ending: Ending, read: float, least: float, expected: Exit) -> None:
    of = rubric("a", gate={"a": 3})
    failing, passing = (grade(of, columns(of, a=[score]))[1] for score in (1, 5))
    assert study_exit(ending, [(passing, 1.0), (failing, read)], least) is expected


def test_a_study_with_an_arm_that_lacks_verdicts_is_not_done() -> None:
    of = rubric("a")
    summaries = [grade(of, columns(of, a=scores))[1] for scores in ([5, 5], [5, ERROR])]
    assert study_exit("complete", [(summary, 1.0) for summary in summaries], 1.0) is Exit.MISSING
    assert study_exit("complete", [(summary, 1.0) for summary in summaries], 0.5) is Exit.OK
