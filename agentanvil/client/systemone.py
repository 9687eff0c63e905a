"""The System One contract, and what speaks it: questions in a map, answered in a map. Pure."""

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
class SystemOne:
    """`POST {base}/systemone`. `clock` gives Unix time, for dates in Retry-After."""

    clock: Callable[[], float] = time.time

    @property
    def api(self) -> str:
        return "systemone"

    @property
    def rungs(self) -> tuple[Rung, ...]:
        """One alone: the questions' types are the structure, and cannot be left out."""
        return ("questions",)

    def path(self, _model: str) -> str:
        return "/systemone"

    def headers(self, key: str | None) -> dict[str, str]:
        return headers(key)

    def build(self, model: str, request: ChatRequest, _shape: Shape) -> bytes:
        """Return the request body: no parameter of it is optional."""
        questions = {question.name: _question(question) for question in request.questions}
        return orjson.dumps({"model": model, "state": state_of(request), "questions": questions})

    def read(self, reply: WireReply, _shape: Shape) -> ChatReply:
        """Check transport status and body error, then put the answers into the neutral form. Raises CallError."""
        return read_reply(reply, self.clock, _answers)


def _question(question: Question) -> Mapping[str, object]:
    if question.kind == "predicate":
        return {"type": "noul", "instructions": question.instructions}
    if question.kind == "choice":
        return {"type": "choice", "instructions": question.instructions, "criteria": dict(question.options)}
    criteria = [words for _, words in question.options]
    return {"type": "score", "instructions": question.instructions, "criteria": criteria}


def _answers(mapped: object) -> Iterator[Answer]:
    if not isinstance(mapped, Written):
        raise other_dialect("openai-decisions")
    for name, answer in mapped.pairs:
        if not isinstance(answer, Written):
            yield Answer(name, "unknown")
            continue
        kind = kind_of(answer)
        yield Answer(name, kind, tuple(_probabilities(answer, kind)))


def _probabilities(answer: Written, kind: str) -> Iterator[tuple[str, float | None]]:
    if kind == "predicate":
        yield from (("true", number(value)) for key, value in answer.pairs if key == "noul")
    mapped = answer.get("probabilities")
    if kind in {"choice", "score"} and isinstance(mapped, Written):
        yield from ((key, number(value)) for key, value in mapped.pairs)
