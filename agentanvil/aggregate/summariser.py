"""Streams rows into a summary: one pass, and memory that does not grow with their number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from agentanvil.aggregate.agreement import AgreementTally, comparable_overalls
from agentanvil.aggregate.baseline import Baseline
from agentanvil.aggregate.call_ways import WaysTally
from agentanvil.aggregate.dimension import DimensionTally
from agentanvil.aggregate.examples import Examples
from agentanvil.aggregate.frame import Reading
from agentanvil.aggregate.gate.summary import Gate, GateCircumstances
from agentanvil.aggregate.gate.tally import GateTally
from agentanvil.aggregate.item import ItemOutcomes, ItemResult
from agentanvil.aggregate.jury import JuryTerms
from agentanvil.aggregate.measure import Measure
from agentanvil.aggregate.pair_notes import pair_notes
from agentanvil.aggregate.pair_summary import Pairwise
from agentanvil.aggregate.pairwise import PairTally
from agentanvil.aggregate.panel.notes import panel_notes
from agentanvil.aggregate.panel.summary import PanelSummary
from agentanvil.aggregate.reducer import Reducer
from agentanvil.aggregate.scores import ScoreTally
from agentanvil.aggregate.summary import FORMAT, Coverage, DimensionSummary, MoreRepeats, OverallSummary, Summary
from agentanvil.aggregate.usage import UsageTally
from agentanvil.aggregate.variance import Variance
from agentanvil.aggregate.variance_tally import VarianceTally
from agentanvil.plan import Plan
from agentanvil.rubric import OVERALL, Rubric, idle_terms
from agentanvil.verdict import STATES, State


class Summariser:
    """`add` every row once, then `finish`. `seed` drives the resampling; derive it from the run's content.

    `reading` is what scores and winners are read from. With a `baseline` only failures that are not in it fail the run.
    `jury` says how the judges of a plan that has several in that role decide, the median and more than half of them
    where it is None.
    """

    def __init__(
        self,
        rubric: Rubric,
        plan: Plan,
        seed: int,
        *,
        reading: Reading = "verdict",
        baseline: Baseline | None = None,
        jury: JuryTerms | None = None,
    ) -> None:
        self._reducer = Reducer(rubric, plan, reading=reading, baseline=baseline, jury=jury)
        self.frame = self._reducer.frame
        self._seed = seed
        self._gate_is_idle = rubric.mode == "pairwise" and bool(rubric.gate)
        self._idle = idle_terms(rubric)
        self._allow_expected = rubric.allow_expected
        self._items = self._repeated = 0
        self._dimensions = [DimensionTally(self.frame, layout) for layout in self.frame.dimensions]
        self._ways = [WaysTally(self.frame, layout) for layout in self.frame.dimensions if layout.compared]
        self._pairs = PairTally(self.frame) if rubric.mode == "pairwise" else None
        self._overall = ScoreTally(signed=rubric.mode == "pairwise", continuous=self.frame.expects)
        self._variance = VarianceTally.where_due(self.frame, plan)
        self._overall_states: Counter[State] = Counter()
        self._overall_agreement = AgreementTally(Measure.of_overall(self.frame))
        self._gate = GateTally(self.frame, seed)
        self._examples = Examples(rubric.mode)
        self._usage = UsageTally()
        self._flags: Counter[str] = Counter()

    def add(self, item: ItemOutcomes) -> ItemResult:
        """Reduce one row, count it, and return what the row reports need. Raises ValueError as `Reducer.reduce`."""
        result = self._reducer.reduce(item)
        self._items += 1
        self._repeated += len(result.outcomes) > self.frame.certain
        for tally, dimension in zip(self._dimensions, result.dimensions, strict=True):
            tally.add(result, dimension)
        for ways in self._ways:
            ways.add(result)
        self._overall_states[result.state] += 1
        if result.overall is not None:
            self._overall.add(result.overall, result.first_overalls(self.frame.plan.certain))
        if self._variance is not None:
            self._variance.add(result)
        if self._pairs is not None and result.pair is not None:
            self._pairs.add(result, result.pair.of_first(self.frame.plan.certain, self.frame.orders))
        elif result.labels and self.frame.rule == "min":
            self._overall_agreement.add(*comparable_overalls(self.frame, result))
        self._gate.add(result)
        self._examples.add(result)
        self._usage.add(result.asked)
        flags = [flag for outcome in result.outcomes for flag in outcome.flags]
        if flags:
            self._flags.update(set(flags))
        return result

    def finish(self, notes: Sequence[str] = (), around: GateCircumstances | None = None) -> Summary:
        """Return the summary; `notes` are sentences that only the caller can know, and stand first.

        `around` is what the gate must know beside the items.
        """
        gate = self._gate.result(around or GateCircumstances())
        variance = self._variance.result(self._seed) if self._variance is not None else {}
        dimensions = tuple(
            tally.summary(self._seed, variance.get(layout.id))
            for tally, layout in zip(self._dimensions, self.frame.dimensions, strict=True)
        )
        pairwise = self._pairs.result(self._seed) if self._pairs is not None else None
        panel = self._reducer.panel(self._seed)
        return Summary(
            format=FORMAT,
            rubric_id=self.frame.rubric_id,
            rubric_hash=self.frame.rubric_hash,
            mode=self.frame.mode,
            judge=self.frame.judge,
            repeats=self.frame.repeats,
            more_repeats=self._more_repeats(),
            reading=self.frame.reading,
            items=self._items,
            coverage=_coverage(dimensions),
            gate=gate,
            overall=self._overall_summary(pairwise, variance.get(OVERALL)),
            dimensions=dimensions,
            pairwise=pairwise,
            call_ways=tuple(ways.result(self._seed) for ways in self._ways),
            panel=panel,
            worst=self._examples.worst,
            missing=self._examples.missing,
            usage=self._usage.result(),
            flags=dict(sorted(self._flags.items())),
            notes=(*notes, *self._notes(gate, pairwise, panel)),
        )

    def _more_repeats(self) -> MoreRepeats | None:
        frame = self.frame
        return MoreRepeats(frame.plan.certain, self._repeated) if frame.certain < len(frame.keys) else None

    def _overall_summary(self, pairwise: Pairwise | None, variance: Variance | None) -> OverallSummary:
        agreement = self._overall_agreement.result()
        if pairwise is not None and pairwise.labels is not None:
            labels = pairwise.labels
            agreement = labels.verdict if pairwise.reading == "verdict" else labels.expected
        return OverallSummary(
            id=OVERALL,
            mean=self._overall.mean(),
            interval=self._overall.interval(self._seed, "mean", OVERALL),
            distribution=self._overall.of_items(self.frame),
            states={state: self._overall_states[state] for state in STATES},
            repeat_sd=self._overall.repeat_sd(),
            unanimous=self._overall.unanimous(),
            modal_agreement=self._overall.modal_agreement(),
            agreement=agreement,
            variance=variance,
            rule=self.frame.rule,
            weights=self.frame.weights,
        )

    def _notes(self, gate: Gate, pairwise: Pairwise | None, panel: PanelSummary | None) -> list[str]:
        notes = pair_notes(pairwise, gated=self._gate_is_idle) if pairwise is not None else []
        notes += panel_notes(panel) if panel is not None else []
        more = self._more_repeats()
        if more is not None:
            notes.append(
                f"{more.items} of {self._items} item(s) have more than {more.first} repeats, since those disagree; "
                f"how far repeats lie apart is told by the first {more.first} alone"
            )
        judged = [t for t, d in zip(self._dimensions, self.frame.dimensions, strict=True) if d.kind == "judged"]
        if judged and all(tally.repeats_never_differ for tally in judged):
            notes.append(
                "repeats are identical on every item: at this temperature the judge is deterministic, "
                "so repeats say nothing about the anchors"
            )
        for tally, layout in zip(self._dimensions, self.frame.dimensions, strict=True):
            notes += tally.notes()
            if tally.mixed:
                notes.append(
                    f"{layout.id}: on {tally.mixed} item(s) some repeats scored and others said `not applicable`, "
                    "so the dimension does not say clearly when it applies"
                )
        if self._idle:
            notes.append(f"not of the mode {self.frame.mode}, so the gate is without it: {', '.join(self._idle)}")
        if gate.verdict == "undecided" and gate.not_applicable == self._items:
            notes.append("the gate decided nothing: what it asks for applies to no item")
        if self._allow_expected:
            notes.append("the rubric lets the judge see the expected answer (`allow_expected: true`)")
        return notes


def _coverage(dimensions: Sequence[DimensionSummary]) -> Coverage:
    states = {state: sum(dimension.states[state] for dimension in dimensions) for state in STATES}
    expected = sum(states.values())
    covered = states["scored"] + states["not_applicable"]
    return Coverage(expected, covered, covered / expected if expected else None, states)
