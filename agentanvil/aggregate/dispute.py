"""Whether the first repeats of an item disagree, so that more of them are worth their price."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from agentanvil.aggregate.frame import Frame
from agentanvil.aggregate.item import ItemOutcomes
from agentanvil.aggregate.reduce import reduce_item
from agentanvil.plan import Plan
from agentanvil.rubric import Rubric
from agentanvil.verdict import Cell, NotApplicable, Outcome, Scored


class Dispute:
    """Holds the repeats that every item gets against each other, those of each judge by itself.

    Readings disagree where a judge scored a dimension of an item differently from one repeat to the next, or once found
    it not applicable; in pairwise where it named another winner in the same order (where orders are drawn, in any). The
    verdicts themselves are compared, whatever the run reads, so that what is asked does not depend on how it is
    reported. A judge that is asked about a share of the items alone has no say, and a missing verdict none either.
    """

    def __init__(self, rubric: Rubric, plan: Plan) -> None:
        calls = tuple(call for call in plan.calls if not call.compared)
        self._plan = replace(plan.first, calls=calls, repeats=plan.certain, adaptive=False)
        self._frame = Frame.of(rubric, self._plan)
        self._asides = frozenset(seat.judge for seat in plan.others if seat.role != "jury")
        self._jury = frozenset(seat.judge for seat in plan.others if seat.role == "jury")
        self._judged = frozenset(call.name for call in calls if call.judged)
        self._checks = frozenset(call.name for call in calls if not call.judged)

    def arises(self, outcomes: Iterable[Outcome]) -> bool:
        """Tell whether any judge's readings among the outcomes of one item disagree."""
        said: dict[str, list[Outcome]] = {}
        checked: list[Outcome] = []
        for outcome in outcomes:
            if outcome.call in self._checks:
                checked.append(outcome)
            elif self._counts(outcome):
                # A judge of another name sits with the first, as in the journal.
                said.setdefault(outcome.judge if outcome.judge in self._jury else self._plan.judge, []).append(outcome)
        differ = self._winners_differ if self._frame.mode == "pairwise" else self._scores_differ
        return any(differ(readings, checked) for readings in said.values())

    def _counts(self, outcome: Outcome) -> bool:
        within = outcome.call in self._judged and outcome.repeat < self._plan.repeats
        return within and outcome.judge not in self._asides

    def _scores_differ(self, readings: Sequence[Outcome], _: Sequence[Outcome]) -> bool:
        first = {outcome.call: outcome.cells for outcome in readings if outcome.repeat == 0}
        return any(
            _apart(first[outcome.call][name], cell)
            for outcome in readings
            if outcome.repeat and outcome.call in first
            for name, cell in outcome.cells.items()
        )

    def _winners_differ(self, readings: Sequence[Outcome], checked: Sequence[Outcome]) -> bool:
        outcomes = [*checked, *readings]
        if len(outcomes) < len(self._frame.keys):
            return False
        pair = reduce_item(self._frame, ItemOutcomes(0, readings[0].item_id, outcomes)).pair
        if pair is None:
            return False
        winners = [call.winner for call in pair.calls]
        size = self._frame.orders
        both = zip(winners[:size], winners[size:], strict=True)
        return any(one is not None and other is not None and one != other for one, other in both)


def _apart(one: Cell, other: Cell) -> bool:
    if isinstance(one, Scored) and isinstance(other, Scored):
        return one.score != other.score
    return {type(one), type(other)} == {Scored, NotApplicable}
