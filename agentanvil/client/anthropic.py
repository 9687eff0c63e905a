"""Anthropic Messages. Pure."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from agentanvil.client.adapter import Rung, Shape, WireReply
from agentanvil.client.anthropic_reply import read_message, read_usage
from agentanvil.client.base import ChatReply, ChatRequest, Message, ReplySchema
from agentanvil.client.envelope import write_body
from agentanvil.client.http_answer import answered, request_id
from agentanvil.client.refusals import EFFORT

# Of the two versions, 2026-10-21 refuses a temperature for every model, while this one takes it where the model does:
# older models can be asked at temperature 0, and a model that refuses it is asked without from then on.
API_VERSION = "2023-06-01"
RUNGS: tuple[Rung, ...] = ("json_schema", "tool", "plain")
_CAP = 8000  # the API demands a cap, whether or not the caller sets one

# Schema keywords that structured output refuses. A forced tool takes them: its input is not held to its schema.
_NOT_TAKEN = frozenset(
    {
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "maxItems",
        "uniqueItems",
    }
)
_NAMED_SCHEMAS = frozenset({"properties", "$defs"})
_LISTED_SCHEMAS = frozenset({"anyOf", "allOf"})


@dataclass(frozen=True, slots=True)
class AnthropicMessages:
    """`POST {base}/messages`. `clock` gives Unix time, for dates in Retry-After.

    There is neither a seed nor log-probabilities in this API, so both are never sent.
    """

    clock: Callable[[], float] = time.time

    @property
    def api(self) -> str:
        return "anthropic-messages"

    @property
    def rungs(self) -> tuple[Rung, ...]:
        return RUNGS

    def path(self, _model: str) -> str:
        return "/messages"

    def headers(self, key: str | None) -> dict[str, str]:
        own = {} if key is None else {"x-api-key": key}
        return {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "anthropic-version": API_VERSION,
            **own,
        }

    def build(self, model: str, request: ChatRequest, shape: Shape) -> bytes:
        """Return the request body; what `shape` says is refused is left out, but the cap, which must be there."""
        sampling = request.sampling
        body: dict[str, object] = {
            "model": model,
            "max_tokens": sampling.max_tokens if sampling.max_tokens is not None else _CAP,
            **_messages(request.messages),
        }
        if sampling.temperature is not None and "temperature" not in shape.dropped:
            body["temperature"] = sampling.temperature
        output: dict[str, object] = {}
        if sampling.effort is not None and EFFORT not in shape.dropped:
            output["effort"] = sampling.effort
        if request.schema is not None and shape.rung == "json_schema":
            output["format"] = {"type": "json_schema", "schema": _taken(request.schema.schema)}
        if request.schema is not None and shape.rung == "tool":
            body.update(_forced(request.schema))
        if output:
            body["output_config"] = output
        return write_body(body)

    def read(self, reply: WireReply, shape: Shape) -> ChatReply:
        """Check transport status, body error, stop reason and block type, in this order. Raises CallError."""
        body = answered(reply, self.clock)
        message = read_message(body, reply, shape.rung)
        model = body.get("model")
        return ChatReply(
            text=message.text,
            stop=message.stop,
            refusal=message.refusal,
            reasoning=message.reasoning,
            usage=read_usage(body.get("usage")),
            model=model if isinstance(model, str) else None,
            request_id=request_id(reply.headers, body),
            rung=shape.rung,
        )


def _messages(messages: Sequence[Message]) -> dict[str, object]:
    """Return the turns, and the system prompt, which is the same for every row, marked for the provider's cache.

    What is too short to be cached is passed over without a word. The mark holds for five minutes from the last read,
    and a running judge reads it more often than that; an hour's mark costs twice the input's price to write.
    """
    system: list[dict[str, object]] = [
        {"type": "text", "text": message.content} for message in messages if message.role == "system"
    ]
    turns = [{"role": m.role, "content": m.content} for m in messages if m.role != "system"]
    if not system:
        return {"messages": turns}
    system[-1]["cache_control"] = {"type": "ephemeral"}
    return {"system": system, "messages": turns}


def _forced(schema: ReplySchema) -> dict[str, object]:
    tool = {"name": schema.name, "input_schema": schema.schema}
    return {"tools": [tool], "tool_choice": {"type": "tool", "name": schema.name}}


def _taken(schema: object) -> object:
    """Return a schema without the keywords that are refused; what is named like one of them stays."""
    if not isinstance(schema, Mapping):
        return schema
    taken: dict[str, object] = {}
    for keyword, value in schema.items():
        if keyword in _NOT_TAKEN or (keyword == "minItems" and value not in (0, 1)):
            continue
        if keyword in _NAMED_SCHEMAS and isinstance(value, Mapping):
            taken[keyword] = {name: _taken(part) for name, part in value.items()}
        elif keyword in _LISTED_SCHEMAS and isinstance(value, Sequence):
            taken[keyword] = [_taken(part) for part in value]
        else:
            taken[keyword] = _taken(value) if keyword == "items" else value
    return taken
