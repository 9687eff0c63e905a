"""The run's gate: one named rule over the items' own decisions, or over figures of the whole run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agentanvil.aggregate.frame import Frame
from agentanvil.aggregate.gate.figures import figure_tallies
from agentanvil.aggregate.gate.summary import (
    Gate,
    GateCircumstances,
    GateFigure,
    GateRule,
    GateVerdict,
    KnownFailures,
)
from agentanvil.aggregate.item import ItemResult
from agentanvil.stats import Estimate, wilson_interval


class GateTally:
    """Counts what `ItemResult.passed` says; nothing is decided twice. `seed` drives the intervals of figures."""

    def __init__(self, frame: Frame, seed: int) -> None:
        self._thresholds = dict(frame.thresholds)
        self._against_baseline = frame.known is not None
        self._figures = figure_tallies(frame, seed)
        self._passed = self._failed = self._undecided = self._not_applicable = 0
        self._known = self._newly_failing = self._newly_passing = 0

    def add(self, result: ItemResult) -> None:
        """Count one item."""
        for figure in self._figures:
            figure.add(result)
        if not self._thresholds:
            return
        for shortfall in result.shortfalls:
            self._known += shortfall.known
            self._newly_failing += not shortfall.known
        self._newly_passing += len(result.recovered)
        if result.passed is not None:
            self._passed += result.passed
            self._failed += not result.passed
        elif result.gap is None:
            self._not_applicable += 1
        else:
            self._undecided += 1

    def result(self, around: GateCircumstances) -> Gate:
        """Decide."""
        decided = self._passed + self._failed
        asked = decided + self._undecided
        nothing = "nothing says what an item must reach" if self._figures else "the rubric has no gate"
        reason = "no item has a decision" if self._thresholds else nothing
        known = KnownFailures(self._known, self._newly_failing, self._newly_passing)
        figures = tuple(figure.result(around.unread) for figure in self._figures)
        verdict = self._of_figures(figures) if figures else self._of_items()
        doubted = around.required and bool(around.doubts) and verdict not in ("fail", "none")
        return Gate(
            rule=self._rule(),
            thresholds=self._thresholds,
            verdict="inconclusive" if doubted else verdict,
            passed=self._passed,
            failed=self._failed,
            undecided=self._undecided,
            not_applicable=self._not_applicable,
            pass_rate=Estimate(self._passed / decided, decided) if decided else Estimate(None, 0, reason),
            interval=wilson_interval(self._passed, decided),
            lower_bound=self._passed / asked if asked else None,
            upper_bound=(self._passed + self._undecided) / asked if asked else None,
            baseline=known if self._against_baseline else None,
            figures=figures,
            reasons=() if verdict == "none" else tuple(_reasons(figures, around)),
        )

    def _rule(self) -> GateRule:
        if self._figures:
            return "interval"
        return "worse_than_baseline" if self._against_baseline else "every_item"

    def _of_items(self) -> GateVerdict:
        if not self._thresholds:
            return "none"
        if self._failed:
            return "fail"
        return "undecided" if self._undecided or not self._passed else "pass"

    @staticmethod
    def _of_figures(figures: Sequence[GateFigure]) -> GateVerdict:
        found = {figure.verdict for figure in figures}
        return next((verdict for verdict in _WORST if verdict in found), "pass")


_WORST: tuple[GateVerdict, ...] = ("fail", "inconclusive")


def _reasons(figures: Sequence[GateFigure], around: GateCircumstances) -> Iterator[str]:
    """Yield what kept the gate from passing, item reports apart."""
    open_or_failed = [figure for figure in figures if figure.verdict != "pass"]
    yield from (figure.text for figure in open_or_failed)
    lacking = max((figure.missing for figure in open_or_failed), default=0)
    if lacking:
        yield f"{lacking} item(s) lack a verdict: each counts as the worst for the lower end, as the best for the upper"
    if around.required:
        yield from around.doubts
