"""One dimension of a run, counted item by item."""

from __future__ import annotations

from collections import Counter, defaultdict

from agentanvil.aggregate.agreement import AgreementTally
from agentanvil.aggregate.examples import WidestItems
from agentanvil.aggregate.frame import Frame, FrameDimension
from agentanvil.aggregate.item import DimensionResult, ItemResult
from agentanvil.aggregate.measure import Measure
from agentanvil.aggregate.scores import ScoreTally, cell_count, cell_distribution
from agentanvil.aggregate.spread import Straddled
from agentanvil.aggregate.summary import DimensionSummary, Straddle
from agentanvil.stats import Estimate, Interval, wilson_interval
from agentanvil.verdict import NO_EVIDENCE, STATES, NotApplicable, Scored, State

_EXAMPLES = 2


class DimensionTally:
    """Counts one dimension; its memory grows with the distinct patterns of scores, not with the rows."""

    def __init__(self, frame: Frame, layout: FrameDimension) -> None:
        self._frame = frame
        self._layout = layout
        self._both = frame.orders == 2
        self._scores = ScoreTally(signed=frame.mode == "pairwise")
        # Of single cells, where an item's scores are means of two.
        self._cells: Counter[tuple[float, ...]] = Counter()
        self._states: Counter[State] = Counter()
        self._codes: defaultdict[State, Counter[str]] = defaultdict(Counter)
        self._flags: Counter[str] = Counter()
        self._evidence = {True: 0, False: 0}
        self._mixed = 0
        self._examples: defaultdict[Straddled, list[tuple[int, str]]] = defaultdict(list)
        self._straddles: Counter[Straddled] = Counter()
        self._widest = WidestItems()
        self._agreement = AgreementTally(Measure.of(frame, layout.threshold))

    @property
    def states(self) -> dict[State, int]:
        """How many cells ended in each state."""
        scored = cell_count(self._patterns())
        return {state: scored if state == "scored" else self._states[state] for state in STATES}

    @property
    def repeats_never_differ(self) -> bool:
        """Whether some item was scored more than once, and none got two different scores."""
        return self._scores.unanimous().value == 1

    @property
    def mixed(self) -> int:
        """How many items some repeats scored and others found not applicable."""
        return self._mixed

    def add(self, item: ItemResult, result: DimensionResult) -> None:
        """Count this dimension of one item."""
        inapplicable = False
        for cell in result.cells:
            if isinstance(cell, Scored):
                if cell.evidence_found is not None:
                    self._evidence[cell.evidence_found] += 1
            else:
                self._states[cell.state] += 1
                if isinstance(cell, NotApplicable):
                    inapplicable = True
                else:
                    self._codes[cell.state][cell.code] += 1
            for flag in cell.flags:
                self._flags[flag] += 1
        spread = result.spread
        if self._both:
            self._cells[tuple(sorted([cell.score for cell in result.cells if isinstance(cell, Scored)]))] += 1
        if spread is not None:
            self._scores.add(spread.mean, spread.scores)
            self._mixed += inapplicable
            self._widest.add(item, spread)
            for pair in spread.straddles:
                self._straddles[pair] += 1
                self._examples[pair] = sorted([*self._examples[pair], (item.index, item.id)])[:_EXAMPLES]
        labels = item.labels
        if labels:
            self._agreement.add(spread.scores if spread is not None else (), labels.get(self._layout.id, ()))

    def summary(self, seed: int) -> DimensionSummary:
        """Return the dimension's part of the summary; `seed` drives its resampling."""
        name = self._layout.id
        pass_rate, pass_interval = self._pass_rate()
        return DimensionSummary(
            id=name,
            mean=self._scores.mean(),
            interval=self._scores.interval(seed, "mean", name),
            distribution=cell_distribution(self._frame, self._patterns()),
            states=self.states,
            repeat_sd=self._scores.repeat_sd(),
            unanimous=self._scores.unanimous(),
            modal_agreement=self._scores.modal_agreement(),
            agreement=self._agreement.result(seed, "agreement", name),
            kind=self._layout.kind,
            codes={state: _sorted(codes) for state, codes in sorted(self._codes.items())},
            evidence_found=self._evidence_rate(),
            no_evidence=self._flags[NO_EVIDENCE],
            flags=_sorted(self._flags),
            straddled=tuple(
                Straddle(below, above, n, tuple(example for _, example in self._examples[below, above]))
                for (below, above), n in sorted(self._straddles.items())
            ),
            widest=self._widest.items,
            mixed=self._mixed,
            pass_rate=pass_rate,
            pass_interval=pass_interval,
        )

    def _evidence_rate(self) -> Estimate:
        n = sum(self._evidence.values())
        return Estimate(self._evidence[True] / n, n) if n else Estimate(None, 0, "no quote was looked up")

    def _patterns(self) -> Counter[tuple[float, ...]]:
        return self._cells if self._both else self._scores.patterns()

    def _pass_rate(self) -> tuple[Estimate | None, Interval | None]:
        if self._frame.mode == "pairwise" or (self._layout.kind == "judged" and self._frame.mode == "absolute"):
            return None, None
        rate = self._scores.reaching(self._frame.scale.max)
        return rate, wilson_interval(round((rate.value or 0) * rate.n), rate.n)


def _sorted(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items()))
