"""Dataset × rubric × repeat → tasks with stable ids, made lazily and in a fixed order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal
from urllib.parse import quote

from agentanvil.dataset import Row
from agentanvil.hashing import derive_seed, digest
from agentanvil.plan.order import AB, BA, UNORDERED, Order, OrderMode, drawn_order
from agentanvil.rubric import CallMode, Rubric
from agentanvil.verdict import Because, Cell, Exchange, Outcome, Winner

CHECKS = "checks"
JOINT = "joint"
_GROUP_LENGTH = 12
Role = Literal["jury", "cross", "escalation"]
FIRST_REPEATS = 2
"""How many repeats an item gets before it is known whether it needs more, where that is asked."""
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
class Seat:
    """A judge beside the first one of a run.

    `jury`: it is asked about every row. `cross`: about a seeded `share` of the rows. `escalation`: where the first one
    was unsure, and about a seeded `share` of the rows as well.
    """

    judge: str
    role: Role
    share: float = 1.0


@dataclass(frozen=True, slots=True)
class Slot:
    """One place among the tasks of a row.

    `place` tells the two orders of a pair apart: 0 for `ab`, 1 for `ba`. `seat` is 0 for the first judge, n for the
    n-th of the others.
    """

    call: CallPlan
    repeat: int
    place: int = 0
    seat: int = 0

    @property
    def key(self) -> tuple[str, int, int]:
        """What names the slot within a row and seat: call, repeat, place."""
        return self.call.name, self.repeat, self.place


@dataclass(frozen=True, slots=True)
class Task:
    """One unit of work. `id` names row, call and repeat readably and never repeats within a run.

    `seat` says which of the run's judges it is for, and `because` why that one is asked, where not every row is.
    """

    id: str
    row: Row
    call: CallPlan
    repeat: int
    judge: str
    order: Order = UNORDERED
    seat: int = 0
    because: Because = ""

    @property
    def question(self) -> str:
        """The id without the seat: what the same question is called whichever judge it is put to."""
        return self.id.removesuffix(f"/judge{self.seat + 1}") if self.seat else self.id

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
            because=self.because,
        )


@dataclass(frozen=True, slots=True)
class Plan:
    """The shape of a run: which calls each row gets, and how often a judge repeats each of its calls.

    `orders` is None where there is no pair to be ordered; `seed` draws the order of each pair, and the rows that a
    seat with a share is asked about. `judge` is the first judge, `others` those beside it. `adaptive`: only the first
    two repeats are for every item, and the others for those on which these two disagree.
    """

    calls: tuple[CallPlan, ...]
    repeats: int
    judge: str
    orders: OrderMode | None = None
    seed: int = 0
    others: tuple[Seat, ...] = ()
    adaptive: bool = False

    @property
    def certain(self) -> int:
        """How many repeats every item gets."""
        return min(self.repeats, FIRST_REPEATS) if self.adaptive else self.repeats

    @property
    def judges(self) -> tuple[str, ...]:
        """The judges in the order of their seats."""
        return (self.judge, *(seat.judge for seat in self.others))

    @property
    def first(self) -> Plan:
        """The same run with its first judge alone."""
        return replace(self, others=()) if self.others else self

    def tasks(self, rows: Iterable[Row]) -> Iterator[Task]:
        """Yield the tasks that are due whatever any of them comes to: each row's together, then repeat by repeat."""
        certain = [slot for slot in self.slots() if slot.repeat < self.certain]
        seats = [[slot for slot in certain if slot.seat == seat] for seat in range(len(self.judges))]
        for row in rows:
            for seat, slots in enumerate(seats):
                if self.is_planned(seat, row.id):
                    for slot in slots:
                        yield self.task(row, slot)

    def task(self, row: Row, slot: Slot, because: Because = "") -> Task:
        """Return the task of one place of a row."""
        call, order = slot.call, self.order_of(slot, row)
        name = task_id(row.id, call.name, slot.repeat, order, slot.seat)
        return Task(name, row, call, slot.repeat, self.judge_of(slot), order, slot.seat, because)

    def is_planned(self, seat: int, item_id: str) -> bool:
        """Tell whether a judge is to be asked about an item whatever the others say; `escalation` never is."""
        role = "jury" if seat == 0 else self.others[seat - 1].role
        return role == "jury" or (role == "cross" and self.is_drawn(seat, item_id))

    def is_drawn(self, seat: int, item_id: str) -> bool:
        """Tell whether an item is in the seeded share of a seat: by its id alone, whatever other rows there are."""
        other = self.others[seat - 1]
        return derive_seed("share", self.seed, other.role, item_id) < other.share * 2**63

    def judge_of(self, slot: Slot) -> str:
        """Return who decides a place."""
        return self.judges[slot.seat] if slot.call.judged else BY_CODE

    def slots(self) -> tuple[Slot, ...]:
        """The places of one row's tasks, in the order in which they are asked: seat by seat, checks with the first."""
        places = range(2 if self.orders == "both" else 1)
        checks = [Slot(call, 0) for call in self.calls if not call.judged]
        judged = [
            Slot(call, repeat, place, seat)
            for seat in range(len(self.judges))
            for repeat in range(self.repeats)
            for call in self.calls
            if call.judged and not (seat and call.compared)
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


def task_id(item_id: str, call: str, repeat: int, order: str = UNORDERED, seat: int = 0) -> str:
    """Return `item/call/repeat`, `/ab` or `/ba` where there is an order, and `/judge2` for the second judge.

    The item is percent-encoded, so that no two tasks share an id.
    """
    name = f"{quote(item_id, safe='')}/{call}/{repeat}"
    ordered = name if order == UNORDERED else f"{name}/{order}"
    return f"{ordered}/judge{seat + 1}" if seat else ordered
