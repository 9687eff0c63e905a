"""What `anvil show` shows: the contract as it is asked, the calls that a row gets, and the row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from typing import get_args

from agentanvil.client.spec import JudgeSpec
from agentanvil.dataset import Contender, Dataset, Row
from agentanvil.errors import DatasetError, UsageError, Where
from agentanvil.plan import CallPlan, OrderMode, Plan, Slot, Task, plan_calls, task_id
from agentanvil.rubric import CallMode, EvidenceMode, Mode, Rubric, load_rubric
from agentanvil.runner.asking import Asking, asking_of
from agentanvil.runner.job import Surroundings, open_rows, orders_of, rubric_in_mode
from agentanvil.runner.local_judge import name_judge
from agentanvil.runner.settings import JudgeSettings, Ways
from agentanvil.runner.wiring import call_settings

UNNAMED = JudgeSpec("compat", "MODEL", "BASE_URL")
"""What stands for the judge where none is named."""
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class ShowSettings:
    """Which request to show. `id` None is the first row, `data` None a made-up one, `call` None the first call.

    `repeat` counts from 0, as in task ids and scores.csv. `mode`, `evidence`, `order`, `vs` and `calls` mean what they
    mean for `grade`; under `order` `both` two requests are shown. `order_by_default`: anvil.yaml gave it, and it is
    passed over where nothing is compared.
    """

    rubric: str
    judge: JudgeSettings
    data: str | None = None
    mapping: tuple[str, ...] = ()
    id: str | None = None
    repeat: int = 0
    call: str | None = None
    mode: Mode | None = None
    order: OrderMode | None = None
    vs: tuple[str, ...] = ()
    calls: Ways | None = None
    order_by_default: bool = False
    evidence: EvidenceMode | None = None

    def __post_init__(self) -> None:
        """Raise UsageError for flags that cannot be meant, alone or together."""
        if self.repeat < 0:
            raise UsageError(f"--repeat counts from 0, so it cannot be {self.repeat}")
        for flag, value in (("--id", self.id), ("--vs", self.vs)):
            if value and self.data is None:
                raise UsageError(f"{flag} names rows, and no data file is given", hint="anvil show RUBRIC DATA --id ID")
        _one_of("--evidence", self.evidence, get_args(EvidenceMode))
        _one_of("--mode", self.mode, get_args(Mode))
        _one_of("--order", self.order, get_args(OrderMode))
        _one_of("--calls", self.calls, (*get_args(CallMode), "both"))


@dataclass(frozen=True, slots=True)
class Subject:
    """What is settled before anything is rendered. `spec` is None where no judge is named."""

    settings: ShowSettings
    rubric: Rubric
    spec: JudgeSpec | None
    calls: tuple[CallPlan, ...]
    plan: Plan

    @property
    def judge(self) -> JudgeSpec:
        return self.spec or UNNAMED


def read_subject(settings: ShowSettings, around: Surroundings) -> Subject | None:
    """Read the rubric. None where code decides every dimension. Raises InputError."""
    rubric = rubric_in_mode(load_rubric(settings.rubric), settings.mode, settings.evidence)
    ordered = settings.order and not settings.order_by_default
    if rubric.mode != "pairwise" and (ordered or settings.vs):
        raise UsageError(
            f"--order and --vs are about two responses, but this is {rubric.mode}", hint="add --mode pairwise"
        )
    calls = tuple(call for call in plan_calls(rubric, settings.calls) if call.judged)
    if not calls:
        return None
    spec = name_judge(settings.judge, around.environ)
    orders = orders_of(rubric, settings.order, () if spec is None else (spec,))
    plan = Plan(calls, settings.repeat + 1, str(spec or UNNAMED), orders, settings.judge.seed_sent)
    return Subject(settings, rubric, spec, calls, plan)


def asking_of_subject(subject: Subject, rubric: Rubric | None = None) -> Asking:
    """Return how the judge is asked, about another rubric than the subject's where one is given. Raises RubricError."""
    settings = call_settings(subject.settings.judge, subject.spec)
    return asking_of(subject.judge, rubric or subject.rubric, subject.calls, settings)


def tasks_of(subject: Subject, row: Row, call: CallPlan) -> list[Task]:
    """Return the tasks of one row, call and repeat: two where both orders are asked."""
    plan, repeat = subject.plan, subject.settings.repeat
    orders = [plan.order_of(Slot(call, repeat, place), row) for place in range(2 if plan.orders == "both" else 1)]
    return [Task(task_id(row.id, call.name, repeat, order), row, call, repeat, plan.judge, order) for order in orders]


def chosen_call(subject: Subject) -> CallPlan:
    """Return the call that was asked for. Raises UsageError where no judge is asked in it."""
    name = subject.settings.call
    for call in subject.calls:
        if name is None or call.name == name:
            return call
    raise UsageError(f"no judge is asked in a call {name!r}", hint=f"Judged calls: {names(subject.calls)}.")


@contextmanager
def open_subject(subject: Subject, around: Surroundings) -> Iterator[Dataset | None]:
    """Open the data file for as long as the context lasts; None where none is given."""
    settings = subject.settings
    if settings.data is None:
        yield None
        return
    with open_rows(settings.data, settings.mapping, subject.rubric, around, settings.vs) as dataset:
        yield dataset


def chosen_row(subject: Subject, dataset: Dataset | None) -> Row:
    """Return the row that was asked for, reading no further, or a made-up one. Raises InputError."""
    rubric, wanted = subject.rubric, subject.settings.id
    if dataset is None:
        source = ("(the row's source)",) if rubric.needs_source else ()
        rival = Contender("(the row's response_b)") if rubric.mode == "pairwise" else None
        response = "(the row's response)" if rival is None else "(the row's response_a)"
        return Row(0, 1, "row", "(the row's request)", response, source, rival=rival)
    for row in dataset.rows():
        if wanted is None or row.id == wanted:
            return row
    raise _no_such_row(dataset, wanted)


def names(calls: Sequence[CallPlan]) -> str:
    """Return the calls' names for a sentence."""
    return ", ".join(call.name for call in calls)


def _no_such_row(dataset: Dataset, wanted: str | None) -> UsageError | DatasetError:
    if wanted is None:
        return DatasetError("0 rows", where=Where(dataset.path), hint="give at least one row to judge")
    close = get_close_matches(wanted, _ids(dataset), n=_MOST_NAMED, cutoff=0.4)
    hint = f"Close to it: {', '.join(map(repr, close))}." if close else "Without --id the first row is shown."
    return UsageError(f"no row has the id {wanted!r}", where=Where(dataset.path, key="id"), hint=hint)


def _ids(dataset: Dataset) -> Iterator[str]:
    for row in dataset.rows():
        yield row.id


def _one_of(flag: str, value: str | None, choices: tuple[str, ...]) -> None:
    if value is not None and value not in choices:
        raise UsageError(f"{flag} is one of {', '.join(choices)}, not {value!r}")
