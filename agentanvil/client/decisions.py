"""What endpoints answer that decide typed questions, in one neutral form: the text of a reply, as of any other judge.

    {"answers": [{"name": "clear", "kind": "score", "probabilities": [["0", 0.1], ["1", 0.9]]}]}

Probabilities stand beside what they belong to, as the endpoint wrote them: nothing is put in order, made to sum to one
or left out here, a repeated key included. A number that is none, or not finite, becomes null. The endpoint's own
`choice`, `score` and `confidence` are not kept: they follow from the probabilities, by formulas that differ from vendor
to vendor.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

import orjson

from agentanvil.client.adapter import WireReply
from agentanvil.client.base import ChatReply, ChatRequest, Usage
from agentanvil.client.counts import count
from agentanvil.client.envelope import Written, read_as_written
from agentanvil.client.http_answer import answered, request_id
from agentanvil.errors import (
    EndpointError,
    MalformedBodyError,
    OtherContractError,
    ParameterRefusedError,
    RejectedError,
)
from agentanvil.hashing import well_formed

AnswerKind = Literal["predicate", "choice", "score", "refusal", "unknown"]
MOST_LEVELS = 10
MOST_CHOICES = 255
MOST_QUESTIONS = 400
"""In one request to OpenAI."""
MOST_QUESTIONS_ELSEWHERE = 200
"""In one request to a gateway that passes questions on."""

_KINDS: dict[str, AnswerKind] = {
    "predicate": "predicate",
    "noul": "predicate",
    "choice": "choice",
    "score": "score",
    "refusal": "refusal",
}
_NOT_IMPLEMENTED = 501


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one question. `name` is None where the endpoint names none; answers then stand as the questions do.

    `probabilities`: a choice's by the option's name; a score's by the level's label, or by its place from 0 on; a
    predicate's by `true`. None is what is no finite number. `refusal` and `unknown` have none.
    """

    name: str | None
    kind: AnswerKind
    probabilities: tuple[tuple[str, float | None], ...] = ()


def write_answers(answers: Iterable[Answer]) -> str:
    """Return the text of a reply with these answers; `read_answers` is its inverse."""
    written = [{"name": a.name, "kind": a.kind, "probabilities": a.probabilities} for a in answers]
    return orjson.dumps({"answers": written}).decode()


def read_answers(text: str) -> tuple[Answer, ...] | None:
    """Return the answers that the text of a reply holds, or None where it is not what `write_answers` writes."""
    try:
        body = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    listed = body.get("answers") if isinstance(body, dict) else None
    if not isinstance(listed, list):
        return None
    answers: list[Answer] = []
    for entry in listed:
        match entry:
            case {"name": (None | str()) as name, "kind": str(kind), "probabilities": list(pairs)} if all(
                map(_is_pair, pairs)
            ):
                found = tuple((key, number(value)) for key, value in pairs)
                answers.append(Answer(name, _KINDS.get(kind, "unknown"), found))
            case _:
                return None
    return tuple(answers)


def headers(key: str | None) -> dict[str, str]:
    """Return the headers of a request."""
    bearer = {} if key is None else {"Authorization": f"Bearer {key}"}
    return {"Content-Type": "application/json", "Accept": "application/json", **bearer}


def state_of(request: ChatRequest) -> str:
    """Return what is to be decided about: the text of the messages."""
    return well_formed("\n".join(message.content for message in request.messages))


def read_reply(reply: WireReply, clock: Callable[[], float], read: Callable[[object], Iterable[Answer]]) -> ChatReply:
    """Read a reply whose `answers`, as they were written, `read` reads. Raises CallError.

    No parameter of such a request can be left out, so one that is refused is a rejected request.
    """
    if reply.status == _NOT_IMPLEMENTED:
        raise EndpointError(
            "the judge answered 501: its model decides no typed questions",
            status=reply.status,
            hint="Load a decision model there, or let the model write: compat:MODEL@URL.",
        )
    try:
        body = answered(reply, clock)
    except ParameterRefusedError as error:
        raise RejectedError(error.message, status=error.status) from None
    written = read_as_written(reply.body)
    found = written.get("answers") if isinstance(written, Written) else None
    if found is None:
        raise MalformedBodyError("the body holds no answers")
    model, cost = body.get("model"), _billed(body.get("usage"))
    return ChatReply(
        text=write_answers(read(found)),
        usage=_usage(body.get("usage")),
        model=model if isinstance(model, str) else None,
        request_id=request_id(reply.headers, body),
        cost=cost,
    )


def kind_of(answer: Written) -> AnswerKind:
    """Return the kind that an answer says it is, else the one whose field it has."""
    named = answer.get("type")
    if isinstance(named, str) and named in _KINDS:
        return _KINDS[named]
    if "noul" in answer or "probability" in answer:
        return "predicate"
    return "choice" if "choice" in answer else "score" if "score" in answer else "unknown"


def number(value: object) -> float | None:
    """Return a finite number, None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def other_dialect(provider: str) -> OtherContractError:
    """Return the error for answers that are another contract's."""
    return OtherContractError(
        f"the answers are written as those of {provider}, the other contract for typed questions",
        hint=f"Name the judge as {provider}:MODEL@URL.",
    )


def _is_pair(pair: object) -> bool:
    return isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str)


def _usage(value: object) -> Usage:
    """Read token counts. Nothing is written, so output that is not counted is none."""
    tokens = count(value, "input_tokens")
    if tokens is None:
        tokens = count(value, "prompt_tokens")
    details = value.get("input_tokens_details") if isinstance(value, dict) else None
    return Usage(
        input_tokens=tokens,
        output_tokens=None if tokens is None else count(value, "output_tokens") or 0,
        cached_tokens=count(details, "cached_tokens"),
        cache_write_tokens=count(details, "cache_write_tokens"),
    )


def _billed(usage: object) -> float | None:
    """Return what a gateway says that it billed, in US dollars."""
    cost = number(usage.get("cost")) if isinstance(usage, dict) else None
    return cost if cost is not None and cost >= 0 else None
