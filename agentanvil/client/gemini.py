"""Gemini `generateContent`. Pure."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from urllib.parse import quote

from agentanvil.client.adapter import RUNGS, Rung, Shape, WireReply
from agentanvil.client.base import ChatReply, ChatRequest, Message, ReplySchema
from agentanvil.client.envelope import write_body
from agentanvil.client.gemini_reply import read_candidate, read_usage
from agentanvil.client.gemini_schema import gemini_schema
from agentanvil.client.http_answer import answered, request_id
from agentanvil.client.refusals import EFFORT, LOGPROBS

_MODELS = "models/"
_JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Gemini:
    """`POST {base}/models/{model}:generateContent`. `clock` gives Unix time, for dates in Retry-After."""

    clock: Callable[[], float] = time.time

    @property
    def api(self) -> str:
        return "gemini"

    @property
    def rungs(self) -> tuple[Rung, ...]:
        return RUNGS

    def path(self, model: str) -> str:
        """Return the path of a model, named with or without the `models/` that the API's own lists show."""
        return f"/{_MODELS}{quote(model.removeprefix(_MODELS), safe='')}:generateContent"

    def headers(self, key: str | None) -> dict[str, str]:
        """Return the headers. The API takes its key in the URL as well, where logs would keep it."""
        own = {} if key is None else {"x-goog-api-key": key}
        return {"Content-Type": _JSON, "Accept": _JSON, **own}

    def build(self, _model: str, request: ChatRequest, shape: Shape) -> bytes:
        """Return the request body; what `shape` says is refused is left out, and so is what is None."""
        body = _turns(request.messages)
        config = _config(request, shape)
        if request.schema is not None and shape.rung == "tool":
            body.update(_forced(request.schema))
        if config:
            body["generationConfig"] = config
        return write_body(body)

    def read(self, reply: WireReply, shape: Shape) -> ChatReply:
        """Check transport status, body error, stop reason and part type, in this order. Raises CallError."""
        body = answered(reply, self.clock)
        said = read_candidate(body, reply, shape.rung)
        usage = read_usage(body.get("usageMetadata"))
        model = body.get("modelVersion")
        return ChatReply(
            text=said.text,
            stop=said.stop,
            reasoning=said.reasoning or bool(usage.reasoning_tokens),
            usage=usage,
            model=model if isinstance(model, str) else None,
            request_id=request_id(reply.headers, body),
            rung=shape.rung,
            tokens=said.tokens,
        )


def _turns(messages: Iterable[Message]) -> dict[str, object]:
    system: list[dict[str, str]] = []
    contents: list[dict[str, object]] = []
    for message in messages:
        if message.role == "system":
            system.append({"text": message.content})
        else:
            role = "model" if message.role == "assistant" else "user"
            contents.append({"role": role, "parts": [{"text": message.content}]})
    return {**({"systemInstruction": {"parts": system}} if system else {}), "contents": contents}


def _config(request: ChatRequest, shape: Shape) -> dict[str, object]:
    sampling, dropped = request.sampling, shape.dropped
    config: dict[str, object] = {}
    if sampling.temperature is not None and "temperature" not in dropped:
        config["temperature"] = sampling.temperature
    if sampling.seed is not None and "seed" not in dropped:
        config["seed"] = sampling.seed
    if sampling.max_tokens is not None and shape.cap_field not in dropped:
        config["maxOutputTokens"] = sampling.max_tokens
    if sampling.effort is not None and EFFORT not in dropped:
        config["thinkingConfig"] = {"thinkingLevel": sampling.effort.upper()}
    if request.logprobs is not None and LOGPROBS not in dropped:
        config["responseLogprobs"] = True
        config["logprobs"] = request.logprobs
    if request.schema is not None and shape.rung in {"json_schema", "json_object"}:
        config["responseMimeType"] = _JSON
    if request.schema is not None and shape.rung == "json_schema":
        config["responseJsonSchema"] = gemini_schema(request.schema.schema)
    return config


def _forced(schema: ReplySchema) -> dict[str, object]:
    function = {"name": schema.name, "parametersJsonSchema": gemini_schema(schema.schema)}
    calling = {"mode": "ANY", "allowedFunctionNames": [schema.name]}
    return {"tools": [{"functionDeclarations": [function]}], "toolConfig": {"functionCallingConfig": calling}}
