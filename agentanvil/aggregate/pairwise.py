"""Counts pairs: who won, whether the order decided, and whether people agree."""

from __future__ import annotations

import math
from array import array
from collections import Counter

from agentanvil.aggregate.agreement import AgreementTally
from agentanvil.aggregate.frame import Frame
from agentanvil.aggregate.item import ItemResult
from agentanvil.aggregate.measure import Measure
from agentanvil.aggregate.pair import Consistency, PairResult
from agentanvil.aggregate.pair_summary import OrderAgreement, PairAgreement, Pairwise, Preferences, Stated
from agentanvil.aggregate.position import PositionTally
from agentanvil.aggregate.wins import ModelTally, WinTally, group_key
from agentanvil.dataset import WINNER
from agentanvil.hashing import derive_seed
from agentanvil.stats import Estimate, wilson_interval
from agentanvil.verdict import Scored

_EXAMPLES = 5
# Sums of many probabilities, exact however the items come: they are kept in units this small.
_UNIT = 2**60


class PairTally:
    """Counts one pairwise run. It keeps some twelve bytes an item, to know which items share a request."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._groups = array("Q")
        self._verdict, self._expected, self._models = WinTally(), WinTally(), ModelTally()
        self._consistency: Counter[Consistency] = Counter()
        self._inconsistent = _Examples()
        self._disagreeing = _Examples()
        self._position = PositionTally(frame.plan.orders)
        self._stated = self._disagreements = 0
        self._cells = self._masses = self._mass = self._read = 0
        self._labelled = False
        measure = Measure.of_overall(frame)
        self._agreements = {name: AgreementTally(measure) for name in ("calls", "verdict", "expected")}

    def add(self, item: ItemResult, pair: PairResult) -> None:
        """Count one pair."""
        self._groups.append(group_key(pair.group, item.id))
        self._models.add(pair.models)
        self._verdict.add(pair.winner)
        self._expected.add(pair.expected)
        self._position.add(pair)
        self._consistency.update([repeat.consistency for repeat in pair.repeats])
        if pair.consistency == "inconsistent":
            self._inconsistent.add(item)
        self._add_stated(item, pair)
        self._add_preferences(item)
        if labels := item.labels.get(WINNER, ()):
            self._add_labels(pair, labels)

    def result(self, seed: int) -> Pairwise:
        """Return the pairwise part of the summary; `seed` drives its resampling."""
        frame = self._frame
        chosen = self._verdict if frame.reading == "verdict" else self._expected
        return Pairwise(
            models=self._models.uniform,
            orders=frame.plan.orders,
            reading=frame.reading,
            verdict=self._verdict.result(self._groups, derive_seed(seed, "wins", "verdict")),
            expected=self._expected.result(self._groups, derive_seed(seed, "wins", "expected")),
            agreement=self._order_agreement(),
            position=self._position.result(),
            shown_first=self._position.shown_first,
            stated=Stated(self._stated, self._disagreements, self._disagreeing.ids),
            preferences=self._preferences(),
            labels=self.labels(),
            ranking=self._models.ranking(chosen, self._groups, seed),
        )

    def labels(self) -> PairAgreement | None:
        """Return how far people agree, None where nobody labelled a winner."""
        found = {name: tally.result() for name, tally in self._agreements.items()}
        calls, verdict, expected = found["calls"], found["verdict"], found["expected"]
        if calls is None or verdict is None or expected is None:
            return None
        return PairAgreement(calls, verdict, expected)

    def _add_stated(self, item: ItemResult, pair: PairResult) -> None:
        both = [call for call in pair.calls if call.stated is not None and call.winner is not None]
        differing = sum(call.stated != call.winner for call in both)
        self._stated += len(both)
        self._disagreements += differing
        if differing:
            self._disagreeing.add(item)

    def _add_preferences(self, item: ItemResult) -> None:
        for layout, dimension in zip(self._frame.dimensions, item.dimensions, strict=True):
            if layout.kind != "judged":
                continue
            for cell in dimension.cells:
                if not isinstance(cell, Scored):
                    continue
                self._cells += 1
                self._read += cell.preference is not None
                if cell.label_mass is not None:
                    self._masses += 1
                    self._mass += round(cell.label_mass * _UNIT)

    def _add_labels(self, pair: PairResult, labels: tuple[float, ...]) -> None:
        # A sign is all that is compared: +1 where response_a won.
        calls = sorted(_SIGNS[call.winner] for call in pair.calls if call.winner is not None)
        self._agreements["calls"].add(calls, labels)
        for name, winner in (("verdict", pair.winner), ("expected", pair.expected)):
            self._agreements[name].add(() if winner is None else (_SIGNS[winner],), labels)

    def _order_agreement(self) -> OrderAgreement:
        counts = self._consistency
        n = counts["consistent"] + counts["partial"] + counts["inconsistent"]
        none = Estimate(None, 0, "no pair has verdicts in both orders")
        share = self._frame.plan.certain
        return OrderAgreement(
            consistent=counts["consistent"],
            partial=counts["partial"],
            inconsistent=counts["inconsistent"],
            single=counts["single"],
            same_winner=Estimate(counts["consistent"] / n, n) if n else none,
            flip_rate=Estimate(counts["inconsistent"] / n, n) if n else none,
            # The repeats of one item depend on each other, so they count as one.
            flip_interval=wilson_interval(counts["inconsistent"] / share, n / share),
            examples=self._inconsistent.ids,
        )

    def _preferences(self) -> Preferences:
        mass = Estimate(None, 0, "no log-probabilities came back")
        if self._masses:
            mass = Estimate(math.ldexp(self._mass / self._masses, -60), self._masses)
        return Preferences(cells=self._cells, without=self._cells - self._read, label_mass=mass)


class _Examples:
    """Keeps the first few items, in row order."""

    def __init__(self) -> None:
        self._kept: list[tuple[int, str]] = []

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(name for _, name in self._kept)

    def add(self, item: ItemResult) -> None:
        if len(self._kept) < _EXAMPLES or item.index < self._kept[-1][0]:
            self._kept = sorted([*self._kept, (item.index, item.id)])[:_EXAMPLES]


_SIGNS = {"a": 1.0, "tie": 0.0, "b": -1.0}
