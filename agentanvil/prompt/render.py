"""Task → prompt. What does not depend on the row is made once per call and shared by all rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from agentanvil.plan import CallPlan, Task
from agentanvil.prompt.contract import Contract, Prompt, build_contract
from agentanvil.prompt.material import MaterialReader
from agentanvil.prompt.system import system_text
from agentanvil.prompt.user import user_text
from agentanvil.prompt.words import CLOSING
from agentanvil.rubric import Rubric


@dataclass(frozen=True, slots=True)
class CallTemplate:
    """What every row's prompt of one call has in common."""

    system: str
    contract: Contract


class PromptRenderer:
    """Renders the judged calls of a plan.

    `templates` holds the constant part of each judged call by name, for `anvil show` and for estimates.
    """

    def __init__(self, rubric: Rubric, calls: Iterable[CallPlan]) -> None:
        """Prepare all judged calls. Raises RubricError for a reply format that cannot hold the call's verdicts."""
        self.templates: Mapping[str, CallTemplate] = {
            call.name: _template(rubric, call) for call in calls if call.judged
        }
        self._with_expected = rubric.allow_expected
        self._closing = CLOSING[rubric.mode]
        self._materials = MaterialReader()

    def render(self, task: Task) -> Prompt:
        """Return the task's messages and contract.

        Raises KeyError for a call that is not judged, ValueError for a task with an order whose row is no pair.
        """
        template = self.templates[task.call.name]
        material = self._materials.read(task.row, task.order)
        expected = task.row.expected if self._with_expected else None
        user = user_text(task.row.request, material, self._closing, expected)
        return Prompt(template.system, user, template.contract, material)


def _template(rubric: Rubric, call: CallPlan) -> CallTemplate:
    contract = build_contract(rubric, call)
    return CallTemplate(system_text(rubric, contract), contract)
