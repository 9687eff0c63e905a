"""The run's gate: one named rule over the items' own decisions."""

from __future__ import annotations

from agentanvil.aggregate.frame import Frame
from agentanvil.aggregate.item import ItemResult
from agentanvil.aggregate.summary import Gate, GateVerdict, KnownFailures
from agentanvil.stats import Estimate, wilson_interval


class GateTally:
    """Counts what `ItemResult.passed` says; nothing is decided twice."""

    def __init__(self, frame: Frame) -> None:
        self._thresholds = dict(frame.thresholds)
        self._against_baseline = frame.known is not None
        self._passed = self._failed = self._undecided = self._not_applicable = 0
        self._known = self._newly_failing = self._newly_passing = 0

    def add(self, result: ItemResult) -> None:
        """Count one item."""
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

    def result(self) -> Gate:
        """Decide."""
        decided = self._passed + self._failed
        asked = decided + self._undecided
        reason = "no item has a decision" if self._thresholds else "the rubric has no gate"
        known = KnownFailures(self._known, self._newly_failing, self._newly_passing)
        return Gate(
            rule="worse_than_baseline" if self._against_baseline else "every_item",
            thresholds=self._thresholds,
            verdict=self._verdict(),
            passed=self._passed,
            failed=self._failed,
            undecided=self._undecided,
            not_applicable=self._not_applicable,
            pass_rate=Estimate(self._passed / decided, decided) if decided else Estimate(None, 0, reason),
            interval=wilson_interval(self._passed, decided),
            lower_bound=self._passed / asked if asked else None,
            upper_bound=(self._passed + self._undecided) / asked if asked else None,
            baseline=known if self._against_baseline else None,
        )

    def _verdict(self) -> GateVerdict:
        if not self._thresholds:
            return "none"
        if self._failed:
            return "fail"
        return "undecided" if self._undecided or not self._passed else "pass"
