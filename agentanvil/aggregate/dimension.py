"""One dimension of a run, counted item by item."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from agentanvil.aggregate.agreement import AgreementTally
from agentanvil.aggregate.as_read import NO_READING, PASSES_FROM, nearest
from agentanvil.aggregate.examples import WidestItems
from agentanvil.aggregate.frame import Frame, FrameDimension
from agentanvil.aggregate.item import DimensionResult, ItemResult
from agentanvil.aggregate.measure import Measure
from agentanvil.aggregate.readings import ReadingTally, reading_notes
from agentanvil.aggregate.reduce import scores_of
from agentanvil.aggregate.scores import ScoreTally, cell_count, cell_distribution
from agentanvil.aggregate.spread import Spread, Straddled, spread_of
from agentanvil.aggregate.summary import DimensionSummary, Straddle
from agentanvil.aggregate.variance import Variance
from agentanvil.stats import Estimate, Interval, wilson_interval
from agentanvil.verdict import NO_EVIDENCE, STATES, Cell, NotApplicable, Scored, State

_EXAMPLES = 2


class DimensionTally:
    """Counts one dimension; its memory grows with the distinct patterns of scores, not with the rows."""

    def __init__(self, frame: Frame, layout: FrameDimension) -> None:
        self._frame = frame
        self._layout = layout
        self._continuous = frame.expects and layout.kind == "judged"
        self._singly = frame.orders == 2 or self._continuous or frame.plan.adaptive
        self._chosen = frame.plan.adaptive and layout.kind == "judged"
        self._scores = ScoreTally(signed=frame.mode == "pairwise", continuous=self._continuous)
        # Of single cells, where an item's scores are means of two, or expected ones, or not all are counted as repeats.
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
        self._holds = 0
        self._readings = ReadingTally() if layout.kind == "judged" else None

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
        inapplicable = self._count_states(result.cells)
        spread = result.spread
        if self._readings is not None:
            self._readings.add(item, item.cells_of(self._layout) if self._continuous else result.cells)
        if self._singly:
            self._count_cells(result)
        if spread is not None:
            self._holds += spread.mean >= PASSES_FROM
            repeats = self._firsts(result) if self._chosen else spread
            self._scores.add(spread.mean, repeats.scores if repeats is not None else ())
            self._mixed += inapplicable
            self._widest.add(item, spread)
            for pair in repeats.straddles if repeats is not None else ():
                self._straddles[pair] += 1
                self._examples[pair] = sorted([*self._examples[pair], (item.index, item.id)])[:_EXAMPLES]
        labels = item.labels
        if labels:
            self._agreement.add(spread.scores if spread is not None else (), labels.get(self._layout.id, ()))

    def notes(self) -> list[str]:
        """Return what a person should know before believing the readings."""
        if self._readings is None or self._frame.mode == "pairwise":
            return []
        return reading_notes(self._layout.id, self._readings.result(), self._codes["judge_error"][NO_READING])

    def summary(self, seed: int, variance: Variance | None) -> DimensionSummary:
        """Return the dimension's part of the summary, with its `variance`; `seed` drives its resampling."""
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
            agreement=self._agreement.result(),
            variance=variance,
            kind=self._layout.kind,
            codes={state: _sorted(codes) for state, codes in sorted(self._codes.items())},
            evidence_found=self._evidence_rate(),
            no_evidence=self._flags[NO_EVIDENCE],
            flags=_sorted(self._flags),
            straddled=tuple(self._straddle(pair, items) for pair, items in sorted(self._straddles.items())),
            widest=self._widest.items,
            mixed=self._mixed,
            pass_rate=pass_rate,
            pass_interval=pass_interval,
            readings=None if self._readings is None else self._readings.result(),
        )

    def _straddle(self, pair: Straddled, items: int) -> Straddle:
        below, above = pair
        repeated = self._scores.unanimous().n
        return Straddle(
            below=below,
            above=above,
            below_text=self._layout.anchors.get(below, ""),
            above_text=self._layout.anchors.get(above, ""),
            items=items,
            share=Estimate(items / repeated, repeated),
            interval=wilson_interval(items, repeated),
            examples=tuple(example for _, example in self._examples[pair]),
        )

    def _count_states(self, cells: Sequence[Cell]) -> bool:
        """Count what became of each cell; tell whether one of them is not applicable."""
        inapplicable = False
        for cell in cells:
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
        return inapplicable

    def _count_cells(self, result: DimensionResult) -> None:
        scores = [cell.score for cell in result.cells if isinstance(cell, Scored)]
        if not self._continuous:
            self._cells[tuple(sorted(scores))] += 1
            return
        for score in scores:
            self._cells[(nearest(score),)] += 1

    def _firsts(self, result: DimensionResult) -> Spread | None:
        """Return the repeats that every item gets, None where none of them scored: they tell how far repeats lie apart.

        Those that were only asked because the first ones disagree would make the judge look worse than it is.
        """
        frame = self._frame
        scores = scores_of(frame, self._layout, result.cells[: frame.plan.certain * frame.orders])
        return spread_of(scores, self._layout.points) if scores else None

    def _evidence_rate(self) -> Estimate:
        n = sum(self._evidence.values())
        return Estimate(self._evidence[True] / n, n) if n else Estimate(None, 0, "no quote was looked up")

    def _patterns(self) -> Counter[tuple[float, ...]]:
        return self._cells if self._singly else self._scores.patterns()

    def _pass_rate(self) -> tuple[Estimate | None, Interval | None]:
        if self._frame.mode == "pairwise" or (self._layout.kind == "judged" and self._frame.mode == "absolute"):
            return None, None
        rate = self._scores.reaching(self._frame.scale.max)
        if self._continuous and rate.n:
            rate = Estimate(self._holds / rate.n, rate.n)
        return rate, wilson_interval(round((rate.value or 0) * rate.n), rate.n)


def _sorted(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items()))
