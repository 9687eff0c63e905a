"""OpenAI's Chat Completions, which vLLM, llama.cpp and Ollama speak as well. Pure."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from agentanvil.client.adapter import RUNGS, Rung, Shape, WireReply
from agentanvil.client.base import ChatReply, ChatRequest, ReplySchema
from agentanvil.client.chat_reply import read_choice, read_usage
from agentanvil.client.envelope import write_body
from agentanvil.client.http_answer import answered, request_id
from agentanvil.client.refusals import EFFORT, LOGPROBS


@dataclass(frozen=True, slots=True)
class ChatCompletions:
    """`POST {base}/chat/completions`. `clock` gives Unix time, for dates in Retry-After."""

    clock: Callable[[], float] = time.time

    @property
    def api(self) -> str:
        return "openai-chat"

    @property
    def rungs(self) -> tuple[Rung, ...]:
        return RUNGS

    def path(self, _model: str) -> str:
        return "/chat/completions"

    def headers(self, key: str | None) -> dict[str, str]:
        bearer = {} if key is None else {"Authorization": f"Bearer {key}"}
        return {"Content-Type": "application/json", "Accept": "application/json", **bearer}

    def build(self, model: str, request: ChatRequest, shape: Shape) -> bytes:
        """Return the request body; what `shape` says is refused is left out, and so is what is None."""
        return write_body(self.fields(model, request, shape))

    def fields(self, model: str, request: ChatRequest, shape: Shape) -> dict[str, object]:
        """Return the body's fields. A dialect of this API changes them here."""
        sampling = request.sampling
        body: dict[str, object] = {
            "model": model,
            "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        }
        if sampling.temperature is not None and "temperature" not in shape.dropped:
            body["temperature"] = sampling.temperature
        if sampling.seed is not None and "seed" not in shape.dropped:
            body["seed"] = sampling.seed
        if sampling.max_tokens is not None and shape.cap_field not in shape.dropped:
            body[shape.cap_field] = sampling.max_tokens
        if sampling.effort is not None and EFFORT not in shape.dropped:
            body[EFFORT] = sampling.effort
        if request.logprobs is not None and LOGPROBS not in shape.dropped:
            body[LOGPROBS] = True
            body["top_logprobs"] = request.logprobs
        if request.schema is not None:
            body.update(_structure(request.schema, shape))
        return body

    def read(self, reply: WireReply, shape: Shape) -> ChatReply:
        """Check transport status, body error, stop reason and block type, in this order. Raises CallError."""
        body = answered(reply, self.clock)
        choice = read_choice(body, reply, shape.rung, self.clock)
        model, usage = body.get("model"), body.get("usage")
        return ChatReply(
            text=choice.text,
            stop=choice.stop,
            refusal=choice.refusal,
            reasoning=choice.reasoning,
            usage=read_usage(usage),
            model=model if isinstance(model, str) else None,
            request_id=request_id(reply.headers, body),
            rung=shape.rung,
            cost=self.billed(usage),
            tokens=choice.tokens,
        )

    def billed(self, _usage: object) -> float | None:
        """Return what the answer says that it cost, in US dollars. A dialect of this API may say so."""
        return None


def _structure(schema: ReplySchema, shape: Shape) -> Mapping[str, object]:
    """Return the fields that ask for the schema on this rung. On `plain` the prompt alone asks for it."""
    if shape.rung == "json_schema":
        strict = {"name": schema.name, "strict": True, "schema": schema.schema}
        return {"response_format": {"type": "json_schema", "json_schema": strict}}
    if shape.rung == "tool":
        function = {"name": schema.name, "parameters": schema.schema}
        return {
            "tools": [{"type": "function", "function": function}],
            "tool_choice": {"type": "function", "function": {"name": schema.name}},
        }
    if shape.rung == "json_object":
        return {"response_format": {"type": "json_object"}}
    return {}
