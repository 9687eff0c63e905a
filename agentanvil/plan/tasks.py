"""Dataset × rubric × repeat → tasks with stable ids, made lazily and in a fixed order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import quote

from agentanvil.dataset import Row
from agentanvil.rubric import Rubric
from agentanvil.verdict import Cell, Exchange, Outcome

CHECKS = "checks"
JOINT = "joint"
UNORDERED = "-"
BY_CODE = "code"
"""What stands for the judge where no judge is asked."""


@dataclass(frozen=True, slots=True)
class CallPlan:
    """One kind of call that every row gets: the dimensions it settles, and whether a judge is asked."""

    name: str
    dimensions: tuple[str, ...]
    judged: bool


@dataclass(frozen=True, slots=True)
class Task:
    """One unit of work. `id` names row, call and repeat readably and never repeats within a run."""

    id: str
    row: Row
    call: CallPlan
    repeat: int
    judge: str
    order: str = UNORDERED

    def outcome(
        self, cells: Mapping[str, Cell], exchanges: tuple[Exchange, ...] = (), flags: tuple[str, ...] = ()
    ) -> Outcome:
        """Return what became of this task. `flags` are added to those of its row."""
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
        )


@dataclass(frozen=True, slots=True)
class Plan:
    """The shape of a run: which calls each row gets, and how often a judge repeats each of its calls."""

    calls: tuple[CallPlan, ...]
    repeats: int
    judge: str

    @property
    def tasks_per_row(self) -> int:
        return sum(self.repeats if call.judged else 1 for call in self.calls)

    def tasks(self, rows: Iterable[Row]) -> Iterator[Task]:
        """Yield the tasks of each row together, checks first, then repeat by repeat."""
        slots = self.slots()
        for row in rows:
            for call, repeat in slots:
                yield Task(task_id(row.id, call.name, repeat), row, call, repeat, self.judge_of(call))

    def judge_of(self, call: CallPlan) -> str:
        """Return who decides a call."""
        return self.judge if call.judged else BY_CODE

    def slots(self) -> tuple[tuple[CallPlan, int], ...]:
        """The (call, repeat) pairs of one row, in the order in which they are asked."""
        checks = [(call, 0) for call in self.calls if not call.judged]
        judged = [(call, repeat) for repeat in range(self.repeats) for call in self.calls if call.judged]
        return (*checks, *judged)


def plan_calls(rubric: Rubric) -> tuple[CallPlan, ...]:
    """Return the calls that one row of an absolute run needs: checks together, judged ones joint or split."""
    calls: list[CallPlan] = []
    if rubric.checked:
        calls.append(CallPlan(CHECKS, tuple(d.id for d in rubric.checked), judged=False))
    judged = tuple(d.id for d in rubric.judged)
    if rubric.calls == "split":
        calls.extend(CallPlan(dimension, (dimension,), judged=True) for dimension in judged)
    elif judged:
        calls.append(CallPlan(JOINT, judged, judged=True))
    return tuple(calls)


def task_id(item_id: str, call: str, repeat: int) -> str:
    """Return `item/call/repeat`, the item percent-encoded so that no two tasks share an id."""
    return f"{quote(item_id, safe='')}/{call}/{repeat}"
