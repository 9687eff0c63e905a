"""What a contract costs to ask, with its scope clauses and without them, before anything is sent.

Tokens are estimated, no tokenizer is used. The clauses stand in the system message, which is the same for every row:
a provider that keeps prompts in a cache bills them at its lower price from the second call on, which is not counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace

from agentanvil.client.base import Usage
from agentanvil.dataset import Row
from agentanvil.plan import CallPlan, Task
from agentanvil.rubric import Dimension, Rubric, Scope
from agentanvil.runner.job import Surroundings
from agentanvil.runner.show_subject import (
    ShowSettings,
    Subject,
    asking_of_subject,
    chosen_row,
    open_subject,
    read_subject,
    tasks_of,
)
from agentanvil.runner.stack import price_table


@dataclass(frozen=True, slots=True)
class Amount:
    """Calls, their tokens and US dollars; `cost_usd` None: the price is unknown. The input holds `scope_tokens`."""

    calls: int
    input_tokens: int
    input_tokens_without_scope: int
    scope_tokens: int
    output_tokens: int
    cost_usd: float | None
    cost_without_scope_usd: float | None


@dataclass(frozen=True, slots=True)
class DimensionCost:
    """What is said of one dimension, in tokens: its section and its scope's line in the procedure, or its question."""

    dimension: str
    tokens: int
    tokens_without_scope: int


@dataclass(frozen=True, slots=True)
class CallCost:
    """One call about the shown row. Its tokens are more than those of its dimensions: rules, reply form, the row."""

    call: str
    amount: Amount
    dimensions: tuple[DimensionCost, ...]


@dataclass(frozen=True, slots=True)
class PromptCost:
    """`calls` are those about the row with the id `row`, `of_row` adds them up: each order of a pair counts.

    `run` is the same for all `rows`, each asked once; None without a data file.
    """

    rubric: str
    mode: str
    judge: str | None
    row: str
    calls: tuple[CallCost, ...]
    of_row: Amount
    rows: int | None
    run: Amount | None


def show_cost(settings: ShowSettings, around: Surroundings) -> PromptCost | None:
    """Add up what the rubric's calls take. None where code decides every dimension.

    With a data file all of its rows are read. Raises InputError.
    """
    subject = read_subject(settings, around)
    if subject is None:
        return None
    meter = _Meter(subject)
    with open_subject(subject, around) as dataset:
        row = chosen_row(subject, dataset)
        counted = None if dataset is None else meter.rows(dataset.rows())
    return PromptCost(
        rubric=subject.rubric.id,
        mode=subject.rubric.mode,
        judge=str(subject.spec) if subject.spec else None,
        row=row.id,
        calls=tuple(meter.call(row, call) for call in subject.calls),
        of_row=meter.amount(meter.row(row)),
        rows=None if counted is None else counted[0],
        run=None if counted is None else meter.amount(counted[1]),
    )


def cost_as_dict(cost: PromptCost) -> dict[str, object]:
    """Return the costs as JSON data."""
    return asdict(cost)


def without_scope(rubric: Rubric) -> Rubric:
    """Return the rubric as it would be without any scope clause."""
    bare = (replace(d, scope=Scope()) if isinstance(d, Dimension) else d for d in rubric.dimensions)
    return replace(rubric, dimensions=tuple(bare))


@dataclass(frozen=True, slots=True)
class _Count:
    calls: int = 0
    given: int = 0
    scope: int = 0
    reply: int = 0
    cost: float | None = 0.0
    bare_cost: float | None = 0.0

    def __add__(self, other: _Count) -> _Count:
        return _Count(
            self.calls + other.calls,
            self.given + other.given,
            self.scope + other.scope,
            self.reply + other.reply,
            _sum(self.cost, other.cost),
            _sum(self.bare_cost, other.bare_cost),
        )


def _sum(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other


class _Meter:
    """Measures what each call has in common once, and every row by itself."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._asking = asking_of_subject(subject)
        self._asking_bare = asking_of_subject(subject, without_scope(subject.rubric))
        self._prices = price_table(subject.judge, subject.settings.judge)
        bare = self._asking_bare.sizes
        self._scopes = {name: size.given - bare[name].given for name, size in self._asking.sizes.items()}

    def rows(self, rows: Iterable[Row]) -> tuple[int, _Count]:
        number, total = 0, _Count()
        for row in rows:
            number, total = number + 1, total + self.row(row)
        return number, total

    def row(self, row: Row) -> _Count:
        tasks = (task for call in self._subject.calls for task in tasks_of(self._subject, row, call))
        return sum(map(self._task, tasks), _Count())

    def call(self, row: Row, call: CallPlan) -> CallCost:
        """Return what one call takes; each order of a pair takes the same."""
        first = tasks_of(self._subject, row, call)[0]
        dimensions = (self._dimension(d.id) for d in self._subject.rubric.judged if d.id in call.dimensions)
        return CallCost(call.name, self.amount(self._task(first)), tuple(dimensions))

    def amount(self, count: _Count) -> Amount:
        bare = count.given - count.scope
        return Amount(count.calls, count.given, bare, count.scope, count.reply, count.cost, count.bare_cost)

    def _task(self, task: Task) -> _Count:
        """Return what one call takes. It is priced by itself: a long one is dearer, many short ones are not."""
        size, scope = self._asking.sizes[task.call.name], self._scopes[task.call.name]
        given = size.given + self._asking.row_tokens(task)
        model = self._subject.judge.model
        costs = (self._prices.cost(Usage(tokens, size.reply), model) for tokens in (given, given - scope))
        return _Count(1, given, scope, size.reply, *costs)

    def _dimension(self, dimension: str) -> DimensionCost:
        asked = (self._asking, self._asking_bare)
        return DimensionCost(dimension, *(each.dimension_tokens(dimension) for each in asked))
