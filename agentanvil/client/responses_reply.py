"""What an OpenAI Responses body says: how it ended, and its text among the reasoning, commentary and calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from agentanvil.client.adapter import Rung, WireReply
from agentanvil.client.base import ChatReply, StopReason, Usage
from agentanvil.client.counts import count
from agentanvil.client.envelope import Written, read_as_written, readable
from agentanvil.client.http_answer import request_id
from agentanvil.client.token_logprobs import read_tokens
from agentanvil.client.tool_arguments import written_arguments
from agentanvil.errors import MalformedBodyError, ServerFaultError

_INCOMPLETE: Mapping[str, StopReason] = {"max_output_tokens": "length", "content_filter": "blocked"}
_THOUGHTS = ("summary", "content", "encrypted_content")


@dataclass(slots=True)
class _Said:
    """What the items of one output hold, gathered in their order."""

    texts: list[str] = field(default_factory=list)
    entries: list[object] = field(default_factory=list)
    refusal: str | None = None
    reasoning: bool = False


def read_response(body: Mapping[str, object], reply: WireReply, rung: Rung) -> ChatReply:
    """Read a body that reports no error. Raises CallError where it holds no answer."""
    stop = _stop(body, reply)
    output = _output(body, stop)
    said = _walk(output)
    text = "".join(said.texts)
    if rung == "tool" or not text:
        text = written_arguments(_calls(output), lambda: _calls(_output_as_written(reply.body))) or text
    model = body.get("model")
    return ChatReply(
        text=text,
        stop="refusal" if said.refusal else stop,
        refusal=said.refusal,
        reasoning=said.reasoning,
        usage=_usage(body.get("usage")),
        model=model if isinstance(model, str) else None,
        request_id=request_id(reply.headers, body),
        rung=rung,
        tokens=read_tokens({"content": said.entries}, text),
    )


def _stop(body: Mapping[str, object], reply: WireReply) -> StopReason:
    """Return why the response ended; some servers leave the status out of a whole one, which is no news.

    Raises ServerFaultError for one that did not end, or ended early for a reason that is not the row's own.
    """
    status, details = body.get("status"), body.get("incomplete_details")
    if status is None or status == "completed":
        return "stop"
    reason = details.get("reason") if status == "incomplete" and isinstance(details, dict) else None
    if isinstance(reason, str) and reason in _INCOMPLETE:
        return _INCOMPLETE[reason]
    why = f" ({reason})" if reason is not None else ""
    raise ServerFaultError(readable(f"the judge's answer is {status}{why}"), status=reply.status)


def _output(body: Mapping[str, object], stop: StopReason) -> list[object]:
    output = body.get("output")
    if isinstance(output, list):
        return output
    if stop != "stop":
        return []
    raise MalformedBodyError("the body holds no list of output items, as a response has it")


def _walk(output: list[object]) -> _Said:
    said = _Said()
    for item in output:
        if not isinstance(item, dict):
            continue
        kind = item.get("type")
        if kind == "message" and item.get("phase") != "commentary":
            _read_message(item, said)
        elif kind == "reasoning":
            said.reasoning = said.reasoning or any(item.get(name) for name in _THOUGHTS)
    return said


def _read_message(item: Mapping[str, object], said: _Said) -> None:
    parts = item.get("content")
    if parts is None:
        return
    if not isinstance(parts, list):
        raise MalformedBodyError("the message's content is no list of parts")
    for part in parts:
        if not isinstance(part, dict):
            continue
        refusal = part.get("refusal")
        if part.get("type") == "output_text":
            text, logprobs = part.get("text"), part.get("logprobs")
            if not isinstance(text, str):
                raise MalformedBodyError("the message's output_text is no text")
            said.texts.append(text)
            said.entries += logprobs if isinstance(logprobs, list) else ()
        elif part.get("type") == "refusal" and isinstance(refusal, str) and refusal:
            said.refusal = refusal


def _calls(output: list[object]) -> list[Mapping[str, object]]:
    return [item for item in output if isinstance(item, dict) and item.get("type") == "function_call"]


def _output_as_written(body: bytes) -> list[object]:
    """Return the items once more with repeated keys kept."""
    parsed = read_as_written(body)
    output = parsed.get("output") if isinstance(parsed, Written) else None
    return output if isinstance(output, list) else []


def _usage(value: object) -> Usage:
    """Read token counts; what is absent or no count stays None. Cached tokens are inside the input here."""
    if not isinstance(value, dict):
        return Usage()
    inside, outside = value.get("input_tokens_details"), value.get("output_tokens_details")
    return Usage(
        input_tokens=count(value, "input_tokens"),
        output_tokens=count(value, "output_tokens"),
        cached_tokens=count(inside, "cached_tokens"),
        reasoning_tokens=count(outside, "reasoning_tokens"),
        cache_write_tokens=count(inside, "cache_write_tokens"),
    )
