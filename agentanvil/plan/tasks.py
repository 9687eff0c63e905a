"""Dataset × rubric × repeat → tasks with stable ids, made lazily and in a fixed order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote

from agentanvil.dataset import Row
from agentanvil.hashing import digest
from agentanvil.plan.order import AB, BA, UNORDERED, Order, OrderMode, drawn_order
from agentanvil.rubric import CallMode, Rubric
from agentanvil.verdict import Cell, Exchange, Outcome, Winner

CHECKS = "checks"
JOINT = "joint"
_GROUP_LENGTH = 12
BY_CODE = "code"
"""What stands for the judge where no judge is asked."""


@dataclass(frozen=True, slots=True)
class CallPlan:
    """One kind of call that every row gets: the dimensions it settles, and whether a judge is asked.

    `compared`: it asks in the other way than the rubric does (joint or split), to be compared with that; its
    verdicts are not the result.
    """

    name: str
    dimensions: tuple[str, ...]
    judged: bool
    compared: bool = False


@dataclass(frozen=True, slots=True)
class Slot:
    """One place among the tasks of a row. `place` tells the two orders of a pair apart: 0 for `ab`, 1 for `ba`."""

    call: CallPlan
    repeat: int
    place: int = 0

    @property
    def key(self) -> tuple[str, int, int]:
        """What names the slot within a row: call, repeat, place."""
        return self.call.name, self.repeat, self.place


@dataclass(frozen=True, slots=True)
class Task:
    """One unit of work. `id` names row, call and repeat readably and never repeats within a run."""

    id: str
    row: Row
    call: CallPlan
    repeat: int
    judge: str
    order: Order = UNORDERED

    def outcome(
        self,
        cells: Mapping[str, Cell],
        exchanges: tuple[Exchange, ...] = (),
        flags: tuple[str, ...] = (),
        *,
        stated: Winner | None = None,
    ) -> Outcome:
        """Return what became of this task. `flags` are added to those of its row."""
        rival = self.row.rival
        return Outcome(
            task_id=self.id,
            row=self.row.index,
            item_id=self.row.id,
            call=self.call.name,
            repeat=self.repeat,
            order=self.order,
            judge=self.judge,
            cells=cells,
            exchanges=exchanges,
            labels=self.row.labels,
            flags=(*self.row.flags, *flags),
            stated=stated,
            models=(self.row.model, rival.model) if rival is not None else (),
            group=digest(self.row.request)[:_GROUP_LENGTH] if rival is not None else "",
        )


@dataclass(frozen=True, slots=True)
class Plan:
    """The shape of a run: which calls each row gets, and how often a judge repeats each of its calls.

    `orders` is None where there is no pair to be ordered; `seed` draws the order of each pair.
    """

    calls: tuple[CallPlan, ...]
    repeats: int
    judge: str
    orders: OrderMode | None = None
    seed: int = 0

    @property
    def tasks_per_row(self) -> int:
        return len(self.slots())

    def tasks(self, rows: Iterable[Row]) -> Iterator[Task]:
        """Yield the tasks of each row together, checks first, then repeat by repeat."""
        slots = self.slots()
        for row in rows:
            for slot in slots:
                call, order = slot.call, self.order_of(slot, row)
                name = task_id(row.id, call.name, slot.repeat, order)
                yield Task(name, row, call, slot.repeat, self.judge_of(call), order)

    def judge_of(self, call: CallPlan) -> str:
        """Return who decides a call."""
        return self.judge if call.judged else BY_CODE

    def slots(self) -> tuple[Slot, ...]:
        """The places of one row's tasks, in the order in which they are asked."""
        places = range(2 if self.orders == "both" else 1)
        checks = [Slot(call, 0) for call in self.calls if not call.judged]
        judged = [
            Slot(call, repeat, place)
            for repeat in range(self.repeats)
            for call in self.calls
            if call.judged
            for place in places
        ]
        return (*checks, *judged)

    def order_of(self, slot: Slot, row: Row | None) -> Order:
        """Return the order in which a slot shows the two responses; a drawn one is unknown without its row."""
        if self.orders is None or not slot.call.judged:
            return UNORDERED
        if self.orders == "random":
            return UNORDERED if row is None else drawn_order(row, slot.repeat, self.seed)
        return BA if slot.place else AB

    def place_of(self, order: str) -> int:
        """Return the place that a task of this order fills."""
        return int(self.orders == "both" and order == BA)


def plan_calls(rubric: Rubric, ways: CallMode | Literal["both"] | None = None) -> tuple[CallPlan, ...]:
    """Return the calls that one row needs: checks together, judged ones joint or split.

    `ways` beats the rubric's `calls`. With `both` the rubric's own way comes first and the other is `compared`; a
    rubric with a single judged dimension has only one way.
    """
    calls: list[CallPlan] = []
    if rubric.checked:
        calls.append(CallPlan(CHECKS, tuple(d.id for d in rubric.checked), judged=False))
    judged = tuple(d.id for d in rubric.judged)
    own = rubric.calls if ways in (None, "both") else ways
    calls.extend(_judged_calls(judged, own, compared=False))
    if ways == "both" and len(judged) > 1:
        calls.extend(_judged_calls(judged, "joint" if own == "split" else "split", compared=True))
    return tuple(calls)


def _judged_calls(judged: tuple[str, ...], way: str, *, compared: bool) -> Iterator[CallPlan]:
    if way == "split":
        yield from (CallPlan(dimension, (dimension,), judged=True, compared=compared) for dimension in judged)
    elif judged:
        yield CallPlan(JOINT, judged, judged=True, compared=compared)


def task_id(item_id: str, call: str, repeat: int, order: str = UNORDERED) -> str:
    """Return `item/call/repeat`, and `/ab` or `/ba` where there is an order.

    The item is percent-encoded, so that no two tasks share an id.
    """
    name = f"{quote(item_id, safe='')}/{call}/{repeat}"
    return name if order == UNORDERED else f"{name}/{order}"
