"""What asking a second judge, where the first was unsure, brought and cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from agentanvil.aggregate.item import ItemResult
from agentanvil.aggregate.panel.resolve import decides, is_verdict
from agentanvil.aggregate.panel.summary import Escalation
from agentanvil.aggregate.usage import Usage
from agentanvil.plan import Plan
from agentanvil.verdict import Because, Cell, NotRun, Outcome, Scored

REASONS: tuple[Because, ...] = ("unsure", "missing", "share")
_TELLING: tuple[Because, ...] = ("missing", "unsure", "share")


class EscalationTally:
    """Counts where the judge in seat `number` of a plan was asked, and what it changed."""

    def __init__(self, plan: Plan, number: int) -> None:
        self._number = number
        self._places = [i for i, s in enumerate(plan.first.slots()) if s.call.judged and not s.call.compared]
        self._items: Counter[Because] = Counter()
        self._calls: Counter[Because] = Counter()
        self._left_out: Counter[Because] = Counter()
        self._drawn = self._replaced = self._changed = self._filled = self._otherwise = 0
        self._first_calls = self._priced = 0

    def add(self, result: ItemResult, singles: Sequence[ItemResult | None], *, drawn: bool) -> None:
        """Count one row; `singles` are what each judge alone makes of it, `drawn` whether it is in the random share."""
        second = result.others[self._number - 1]
        asked: set[Because] = set()
        for place in self._places:
            first, outcome = result.firsts[place], second[place]
            self._first_calls += not _is_left_out(first)
            if outcome is None:
                continue
            if _is_left_out(outcome):
                self._left_out[outcome.because] += 1
                continue
            asked.add(outcome.because)
            self._calls[outcome.because] += 1
            self._priced += any(exchange.cost is not None for exchange in outcome.exchanges)
            if decides(outcome):
                self._count_cells(first, outcome, result.outcomes[place])
        if asked:
            self._items[next((reason for reason in _TELLING if reason in asked), "share")] += 1
            self._drawn += drawn
            self._otherwise += singles[0] is not None and _decision(singles[0]) != _decision(result)

    def result(self, first: Usage, second: Usage) -> Escalation:
        """Return the counts, and the costs by what either judge took."""
        everything = None
        if second.cost is not None and self._priced:
            everything = second.cost / self._priced * self._first_calls
        spent = second.cost if second.exchanges else 0.0
        return Escalation(
            items={reason: self._items[reason] for reason in REASONS},
            calls={reason: self._calls[reason] for reason in REASONS},
            left_out={reason: self._left_out[reason] for reason in REASONS},
            drawn=self._drawn,
            replaced=self._replaced,
            changed=self._changed,
            filled=self._filled,
            decided_otherwise=self._otherwise,
            first_cost=first.cost,
            second_cost=spent,
            everything_cost=everything,
            saved=None
            if everything is None or spent is None or first.cost is None
            else everything - spent - first.cost,
        )

    def _count_cells(self, first: Outcome, second: Outcome, resolved: Outcome) -> None:
        for name, cell in resolved.cells.items():
            if cell is not second.cells[name]:
                continue
            self._replaced += 1
            before = first.cells[name]
            if not is_verdict(before):
                self._filled += 1
            elif _said(before) != _said(cell):
                self._changed += 1


def _is_left_out(outcome: Outcome) -> bool:
    return all(isinstance(cell, NotRun) for cell in outcome.cells.values())


def _said(cell: Cell) -> float | None:
    return cell.score if isinstance(cell, Scored) else None


def _decision(result: ItemResult) -> object:
    return result.pair.result if result.pair is not None else result.passed
