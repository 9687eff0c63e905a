"""OpenAI Responses. Pure."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agentanvil.client.adapter import RUNGS, Rung, Shape, WireReply
from agentanvil.client.base import ChatReply, ChatRequest, Message, ReplySchema
from agentanvil.client.envelope import write_body
from agentanvil.client.http_answer import answered
from agentanvil.client.refusals import EFFORT, LOGPROBS
from agentanvil.client.responses_reply import read_response

CAP_FIELD = "max_output_tokens"
_SMALLEST_CAP = 16


@dataclass(frozen=True, slots=True)
class Responses:
    """`POST {base}/responses`, stateless: nothing is stored with the provider. `clock` gives Unix time.

    This API has no seed, so none is sent.
    """

    clock: Callable[[], float] = time.time

    @property
    def api(self) -> str:
        return "openai-responses"

    @property
    def rungs(self) -> tuple[Rung, ...]:
        return RUNGS

    def path(self, _model: str) -> str:
        return "/responses"

    def headers(self, key: str | None) -> dict[str, str]:
        bearer = {} if key is None else {"Authorization": f"Bearer {key}"}
        return {"Content-Type": "application/json", "Accept": "application/json", **bearer}

    def build(self, model: str, request: ChatRequest, shape: Shape) -> bytes:
        """Return the request body; what `shape` says is refused is left out, and so is what is None."""
        sampling = request.sampling
        body: dict[str, object] = {"model": model, **_input(request.messages), "store": False}
        if sampling.temperature is not None and "temperature" not in shape.dropped:
            body["temperature"] = sampling.temperature
        if sampling.max_tokens is not None and shape.cap_field not in shape.dropped:
            body[CAP_FIELD] = max(sampling.max_tokens, _SMALLEST_CAP)
        if sampling.effort is not None and EFFORT not in shape.dropped:
            body["reasoning"] = {"effort": sampling.effort}
        if request.logprobs is not None and LOGPROBS not in shape.dropped:
            body["include"] = ["message.output_text.logprobs"]
            body["top_logprobs"] = request.logprobs
        if request.schema is not None:
            body.update(_structure(request.schema, shape.rung))
        return write_body(body)

    def read(self, reply: WireReply, shape: Shape) -> ChatReply:
        """Check transport status, body error, the response's status and item types, in this order. Raises CallError."""
        return read_response(answered(reply, self.clock), reply, shape.rung)


def _input(messages: Sequence[Message]) -> dict[str, object]:
    """Return the fields that hold the messages: instructions first, and one user message as plain text."""
    lead = 0
    while lead < len(messages) and messages[lead].role == "system":
        lead += 1
    rest = messages[lead:]
    fields: dict[str, object] = {}
    if lead:
        fields["instructions"] = "\n\n".join(message.content for message in messages[:lead])
    if len(rest) == 1 and rest[0].role == "user":
        return {**fields, "input": rest[0].content}
    return {**fields, "input": [{"role": message.role, "content": message.content} for message in rest]}


def _structure(schema: ReplySchema, rung: Rung) -> dict[str, object]:
    """Return the fields that ask for the schema on this rung. On `plain` the prompt alone asks for it."""
    if rung == "json_schema":
        strict = {"type": "json_schema", "name": schema.name, "strict": True, "schema": schema.schema}
        return {"text": {"format": strict}}
    if rung == "tool":  # not strict, which is this API's default: a schema that was refused as strict stays refused
        tool = {"type": "function", "name": schema.name, "parameters": schema.schema, "strict": False}
        return {"tools": [tool], "tool_choice": {"type": "function", "name": schema.name}}
    return {"text": {"format": {"type": "json_object"}}} if rung == "json_object" else {}
