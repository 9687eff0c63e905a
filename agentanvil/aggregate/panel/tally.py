"""Streams the rows of a run with several judges: each judge alone, what they came to, and how far they agree."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace

from agentanvil.aggregate.agreement import AgreementTally
from agentanvil.aggregate.frame import Frame
from agentanvil.aggregate.item import ItemOutcomes, ItemResult
from agentanvil.aggregate.jury import JuryTerms
from agentanvil.aggregate.measure import Agreement, Measure
from agentanvil.aggregate.panel.agreement import Ground, JudgeAgreementTally, Unit
from agentanvil.aggregate.panel.escalation import EscalationTally
from agentanvil.aggregate.panel.resolve import Due, Panel
from agentanvil.aggregate.panel.summary import PanelJudge, PanelSummary
from agentanvil.aggregate.reduce import reduce_item
from agentanvil.aggregate.usage import UsageTally
from agentanvil.dataset import WINNER
from agentanvil.plan import Plan
from agentanvil.rubric import OVERALL
from agentanvil.verdict import STATES, Cell, NotApplicable, NotRun, Outcome, Scored, State

_POINTS = {"a": 1.0, "tie": 0.0, "b": -1.0}
_NOT_DUE = NotRun("not_due")
# Overalls that judges' probabilities expect are hardly ever equal; agreement needs them no finer than this.
_DECIMALS = 2


class PanelTally:
    """`add` every row once, then `result`. `frame` is that of the whole run, `alone` that of one judge's own calls."""

    def __init__(self, frame: Frame, alone: Frame, plan: Plan, jury: JuryTerms | None) -> None:
        self._frame = frame
        self._alone = alone
        self._panel = Panel(plan, frame.mode, jury)
        places = {key: place for place, key in enumerate(frame.keys)}
        self._own = [places[key] for key in alone.keys]
        self._judged = [place for place, d in enumerate(alone.dimensions) if d.kind == "judged"]
        self._judges = [_JudgeTally(alone, plan, number) for number in range(len(plan.judges))]
        names = [*(alone.dimensions[place].id for place in self._judged), OVERALL]
        self._agreements = [JudgeAgreementTally(name, plan.judges, Ground.of(alone, name)) for name in names]
        self._shared_out = next((n for n, seat in enumerate(plan.others, 1) if seat.role == "escalation"), None)
        self._escalation = None if self._shared_out is None else EscalationTally(plan, self._shared_out)

    def add(self, item: ItemOutcomes) -> ItemResult:
        """Resolve one row and reduce it, count what its judges said, and return what they came to together.

        Raises ValueError if the outcomes are not those of the plan.
        """
        firsts, others = self._panel.seats(item)
        resolved = ItemOutcomes(item.index, item.item_id, self._panel.resolve((firsts, others)))
        seats = (firsts, *others)
        singles = [self._single(item, firsts, seat) for seat in seats]
        fair = self._shared_out is None or self._panel.plan.is_drawn(self._shared_out, item.item_id)
        result = replace(
            reduce_item(self._frame, resolved),
            firsts=firsts,
            others=others,
            singles=tuple([single if fair or n != self._shared_out else None for n, single in enumerate(singles)]),
        )
        for number, tally in enumerate(self._judges):
            tally.add(seats[number], singles[number], labelled=fair or number != self._shared_out)
        if fair:
            self._compare(result, singles)
        if self._escalation is not None:
            self._escalation.add(result, singles, drawn=fair)
        return result

    def result(self, seed: int) -> PanelSummary:
        """Return the panel's part of the summary; `seed` drives its resampling."""
        plan, terms = self._panel.plan, self._panel.terms
        judges = tuple([tally.result() for tally in self._judges])
        escalation = self._escalation
        return PanelSummary(
            role=plan.others[0].role,
            rule=terms.rule if terms is not None else None,
            quorum=terms.quorum if terms is not None else None,
            judges=judges,
            agreement_over="every item" if escalation is None else "random share",
            agreement=tuple([tally.result(seed) for tally in self._agreements]),
            escalation=escalation.result(judges[0].usage, judges[-1].usage) if escalation is not None else None,
        )

    def _single(self, item: ItemOutcomes, firsts: Sequence[Outcome], seat: Due) -> ItemResult | None:
        """Return what one judge alone makes of a row, None where it was not due at all. Checks are everybody's."""
        outcomes: list[Outcome] = []
        due = False
        for place in [place for place in self._own if place < len(firsts)]:
            outcome, first = seat[place], firsts[place]
            if not self._panel.is_judged(place):
                outcomes.append(first)
            elif outcome is None:
                outcomes.append(replace(first, cells=dict.fromkeys(first.cells, _NOT_DUE), exchanges=()))
            else:
                due = True
                outcomes.append(outcome)
        return reduce_item(self._alone, ItemOutcomes(item.index, item.item_id, outcomes)) if due else None

    def _compare(self, result: ItemResult, singles: Sequence[ItemResult | None]) -> None:
        *dimensions, overall = self._agreements
        for tally, place in zip(dimensions, self._judged, strict=True):
            layout = self._alone.dimensions[place]
            # The verdicts themselves, whatever the run reads: every judge brings those, and they are few values.
            # Repeats that not every item gets are no fair sample.
            asked = [slot for slot in layout.slots if slot < self._alone.certain]
            calls = [[_cell(single, slot, layout.id) for single in singles] for slot in asked]
            units: list[Unit] = [tuple([c.score if isinstance(c, Scored) else None for c in call]) for call in calls]
            tally.add(result, units, mixed=any(_is_mixed(call) for call in calls))
        overall.add(result, [tuple([self._overall(single) for single in singles])])

    def _overall(self, single: ItemResult | None) -> float | None:
        """Return what a judge alone comes to: the overall, whether a gate holds, or the winner."""
        if single is None:
            return None
        if single.pair is not None:
            winner = single.pair.result
            return None if winner is None else _POINTS[winner]
        if self._alone.mode == "gate":
            return None if single.passed is None and not single.shortfalls else float(not single.shortfalls)
        if single.overall is None:
            return None
        return round(single.overall, _DECIMALS) if self._alone.expects else single.overall


def _cell(single: ItemResult | None, slot: int, dimension: str) -> Cell | None:
    return None if single is None else single.outcomes[slot].cells[dimension]


def _is_mixed(call: Sequence[Cell | None]) -> bool:
    """Tell whether of one and the same call some judges found a score, and others that there is nothing to score."""
    return any(isinstance(c, Scored) for c in call) and any(isinstance(c, NotApplicable) for c in call)


class _JudgeTally:
    """Counts one judge on its own."""

    def __init__(self, frame: Frame, plan: Plan, number: int) -> None:
        self._frame = frame
        self._judge = plan.judges[number]
        self._seat = plan.others[number - 1] if number else None
        self._items = 0
        self._states: Counter[State] = Counter()
        self._codes: defaultdict[State, Counter[str]] = defaultdict(Counter)
        self._usage = UsageTally()
        self._labels = {
            layout.id: AgreementTally(Measure.of(frame, layout.threshold))
            for layout in frame.dimensions
            if layout.kind == "judged"
        }
        if frame.mode == "pairwise":
            self._labels = {WINNER: AgreementTally(Measure.of_overall(frame))}

    def add(self, said: Due, single: ItemResult | None, *, labelled: bool) -> None:
        """Count one row: what this judge said, and what it alone makes of it."""
        self._usage.add([outcome for outcome in said if outcome is not None])
        if single is None:
            return
        self._items += 1
        for layout, result in zip(self._frame.dimensions, single.dimensions, strict=True):
            if layout.kind == "check":
                continue
            for cell in result.cells:
                if cell is _NOT_DUE:
                    continue
                self._states[cell.state] += 1
                if not isinstance(cell, Scored | NotApplicable):
                    self._codes[cell.state][cell.code] += 1
        if labelled and single.labels:
            self._hold_against(single)

    def result(self) -> PanelJudge:
        """Return the judge's part of the summary."""
        labels: dict[str, Agreement] = {}
        for name, tally in self._labels.items():
            found = tally.result()
            if found is not None:
                labels[name] = found
        seat = self._seat
        return PanelJudge(
            judge=self._judge,
            role="first" if seat is None else seat.role,
            share=None if seat is None or seat.role == "jury" else seat.share,
            items=self._items,
            states={state: self._states[state] for state in STATES},
            codes={state: dict(sorted(codes.items())) for state, codes in sorted(self._codes.items())},
            labels=labels,
            usage=self._usage.result(),
        )

    def _hold_against(self, single: ItemResult) -> None:
        if single.pair is not None:
            winner = single.pair.result
            points = () if winner is None else (_POINTS[winner],)
            self._labels[WINNER].add(points, single.labels.get(WINNER, ()))
            return
        for result in single.dimensions:
            if (tally := self._labels.get(result.id)) is not None:
                scores = result.spread.scores if result.spread is not None else ()
                tally.add(scores, single.labels.get(result.id, ()))
