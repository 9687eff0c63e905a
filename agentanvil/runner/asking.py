"""How a judge is asked, by its kind: for a text with its verdicts, or for the probabilities of typed questions.

Both give a task's request as a run makes it, and its size before it is sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from agentanvil.client import ChatRequest
from agentanvil.client.spec import JudgeSpec
from agentanvil.judge import CallSettings, build_decision, build_request
from agentanvil.plan import CallPlan, Task
from agentanvil.prompt import (
    PromptRenderer,
    QuestionRenderer,
    dimension_text,
    estimate_question_tokens,
    estimate_reply_tokens,
    estimate_tokens,
)
from agentanvil.rubric import Rubric


@dataclass(frozen=True, slots=True)
class CallSize:
    """Estimated tokens of one call: what every row's request has in common, and the reply."""

    given: int
    reply: int


class Asking(Protocol):
    """Tasks → requests to one kind of judge."""

    @property
    def sizes(self) -> Mapping[str, CallSize]:
        """The judged calls by name."""
        ...

    def request(self, task: Task) -> ChatRequest: ...

    def row_tokens(self, task: Task) -> int:
        """Return what the row takes up in a task's request."""
        ...

    def dimension_tokens(self, dimension: str) -> int:
        """Return what is said of one dimension alone."""
        ...


class TextAsking:
    """Asks a judge that writes."""

    def __init__(self, rubric: Rubric, calls: Iterable[CallPlan], settings: CallSettings) -> None:
        """Raises RubricError for a reply format that cannot hold a call's verdicts."""
        self._rubric = rubric
        self._settings = settings
        self._renderer = PromptRenderer(rubric, calls)
        self.sizes: Mapping[str, CallSize] = {
            name: CallSize(estimate_tokens(template.system), estimate_reply_tokens(template.contract))
            for name, template in self._renderer.templates.items()
        }

    def request(self, task: Task) -> ChatRequest:
        """Return what the run sends."""
        return build_request(task, self._renderer.render(task), self._settings)

    def row_tokens(self, task: Task) -> int:
        """Return the tokens of the user message."""
        return estimate_tokens(self._renderer.render(task).user)

    def dimension_tokens(self, dimension: str) -> int:
        """Return the tokens of a dimension's section, and of its line in the procedure."""
        found = next(d for d in self._rubric.judged if d.id == dimension)
        return estimate_tokens(dimension_text(self._rubric, found))


class QuestionAsking:
    """Asks a judge that decides typed questions; it writes nothing."""

    def __init__(self, rubric: Rubric, calls: Iterable[CallPlan]) -> None:
        """Raises RubricError for what does not fit into such questions."""
        self._renderer = QuestionRenderer(rubric, calls)
        self._questions = {q.name: q for questions in self._renderer.templates.values() for q in questions}
        self.sizes: Mapping[str, CallSize] = {
            name: CallSize(estimate_question_tokens(questions), 0)
            for name, questions in self._renderer.templates.items()
        }

    def request(self, task: Task) -> ChatRequest:
        """Return what the run sends."""
        return build_decision(task, self._renderer.render(task))

    def row_tokens(self, task: Task) -> int:
        """Return the tokens of the state."""
        return estimate_tokens(self._renderer.render(task).state)

    def dimension_tokens(self, dimension: str) -> int:
        """Return the tokens of a dimension's question."""
        return estimate_question_tokens([self._questions[dimension]])


def asking_of(spec: JudgeSpec, rubric: Rubric, calls: Iterable[CallPlan], settings: CallSettings) -> Asking:
    """Return how a judge is asked about a rubric. Raises RubricError where it cannot be."""
    if spec.rules.decides:
        return QuestionAsking(rubric, calls)
    return TextAsking(rubric, calls, settings)
