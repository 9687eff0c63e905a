"""Tasks, contracts and prompts for tests of the prompt and judge rooms, made through the production door."""

from __future__ import annotations

from collections.abc import Mapping

from agentanvil.dataset import Contender, Row
from agentanvil.plan import Order, Plan, Task, plan_calls
from agentanvil.prompt import Contract, Prompt, PromptRenderer, build_contract
from agentanvil.rubric import EvidenceMode, ReplyFormat, Rubric, Scale
from tests.fakes.records import row as make_row
from tests.fakes.records import rubric as make_rubric


def scale_rubric(
    low: int = 1,
    high: int = 5,
    *names: str,
    evidence: EvidenceMode = "none",
    allow_na: bool = False,
    **changes: object,
) -> Rubric:
    return make_rubric(*names, scale=Scale(low, high), allow_na=allow_na, evidence=evidence, **changes)


def contract_of(rubric: Rubric) -> Contract:
    return build_contract(rubric, next(call for call in plan_calls(rubric) if call.judged))


def label_contract(
    low: int,
    high: int,
    reply: ReplyFormat,
    *,
    allow_na: bool = False,
) -> Contract:
    return contract_of(scale_rubric(low, high, reply=reply, allow_na=allow_na))


def labels(marker: str, choices: Mapping[str, int] | None = None, **changes: object) -> ReplyFormat:
    return ReplyFormat(**{"format": "label", "marker": marker, "labels": choices or {}, **changes})  # type: ignore[arg-type]


def pair(**changes: object) -> Row:
    """A row with two responses; `rival` and `response` may be given."""
    return make_row(**{"rival": Contender("Lyon is the capital of France."), **changes})


def tasks_of(rubric: Rubric, row: Row | None = None, repeats: int = 1) -> list[Task]:
    """The judged tasks of one row; in pairwise both orders of each, `ab` first."""
    paired = rubric.mode == "pairwise"
    plan = Plan(plan_calls(rubric), repeats, "scripted:test", "both" if paired else None)
    return [task for task in plan.tasks([row or (pair() if paired else make_row())]) if task.call.judged]


def prompted(
    rubric: Rubric, row: Row | None = None, repeat: int = 0, order: Order | None = None
) -> tuple[Task, Prompt]:
    tasks = (task for task in tasks_of(rubric, row, repeat + 1) if order is None or task.order == order)
    task = next(task for task in tasks if task.repeat == repeat)
    return task, PromptRenderer(rubric, plan_calls(rubric)).render(task)
