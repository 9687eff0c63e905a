"""OpenAI Decisions, and what speaks it: questions in a list, answered in a list. Pure."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import orjson

from agentanvil.client.adapter import Rung, Shape, WireReply
from agentanvil.client.base import ChatReply, ChatRequest, Question
from agentanvil.client.decisions import Answer, headers, kind_of, number, other_dialect, read_reply, state_of
from agentanvil.client.envelope import Written


@dataclass(frozen=True, slots=True)
class OpenAIDecisions:
    """`POST {base}/decisions`. `clock` gives Unix time, for dates in Retry-After."""

    clock: Callable[[], float] = time.time

    @property
    def api(self) -> str:
        return "openai-decisions"

    @property
    def rungs(self) -> tuple[Rung, ...]:
        """One alone: the questions' types are the structure, and cannot be left out."""
        return ("questions",)

    def path(self, _model: str) -> str:
        return "/decisions"

    def headers(self, key: str | None) -> dict[str, str]:
        return headers(key)

    def build(self, model: str, request: ChatRequest, _shape: Shape) -> bytes:
        """Return the request body: no parameter of it is optional."""
        questions = [_question(question) for question in request.questions]
        return orjson.dumps({"model": model, "input": state_of(request), "questions": questions})

    def read(self, reply: WireReply, _shape: Shape) -> ChatReply:
        """Check transport status and body error, then put the answers into the neutral form. Raises CallError."""
        return read_reply(reply, self.clock, _answers)


def _question(question: Question) -> Mapping[str, object]:
    asked: dict[str, object] = {
        "type": question.kind,
        "name": question.name,
        "instructions": question.instructions,
    }
    if question.kind == "choice":
        asked["choices"] = [{"value": name, "description": words} for name, words in question.options]
    elif question.kind == "score":
        asked["levels"] = [{"label": name, "description": words} for name, words in question.options]
    return asked


def _answers(listed: object) -> Iterator[Answer]:
    if not isinstance(listed, list):
        raise other_dialect("systemone")
    for answer in listed:
        if not isinstance(answer, Written):
            yield Answer(None, "unknown")
            continue
        name, kind = answer.get("name"), kind_of(answer)
        yield Answer(name if isinstance(name, str) else None, kind, tuple(_probabilities(answer, kind)))


def _probabilities(answer: Written, kind: str) -> Iterator[tuple[str, float | None]]:
    if kind == "predicate":
        yield from (("true", number(value)) for key, value in answer.pairs if key == "probability")
    listed = answer.get("probabilities")
    if kind not in {"choice", "score"} or not isinstance(listed, list):
        return
    for entry in listed:
        if isinstance(entry, Written):
            yield _key(entry), number(entry.get("probability"))
        else:
            yield "", None


def _key(entry: Written) -> str:
    """Return the level's label, else the value: a choice's own name, or a level's place."""
    label, value = entry.get("label"), entry.get("value")
    if isinstance(label, str):
        return label
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""
