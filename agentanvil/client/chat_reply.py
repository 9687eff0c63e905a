"""The choice inside a Chat Completions reply: its stop reason, its text in whichever block it stands, its usage."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from agentanvil.client.adapter import Rung, WireReply
from agentanvil.client.base import StopReason, TokenLogprob, Usage
from agentanvil.client.classify import call_error
from agentanvil.client.counts import count
from agentanvil.client.envelope import Written, read_as_written
from agentanvil.client.fault import fault_of
from agentanvil.client.token_logprobs import read_tokens
from agentanvil.client.tool_arguments import written_arguments
from agentanvil.errors import MalformedBodyError, ServerFaultError

_STOPS: Mapping[str, StopReason] = {
    "stop": "stop",
    "tool_calls": "stop",
    "function_call": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "stop_sequence": "stop",
    "end_turn": "stop",
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "blocked",
    "safety": "blocked",
    "refusal": "refusal",
}
_TEXT_BLOCKS = frozenset({"text", "output_text"})
_REASONING_FIELDS = ("reasoning_content", "reasoning", "thinking")


@dataclass(frozen=True, slots=True)
class Choice:
    """What one choice says, after its stop reason and its blocks were read."""

    text: str
    stop: StopReason
    refusal: str | None = None
    reasoning: bool = False
    tokens: tuple[TokenLogprob, ...] = ()


def read_choice(body: Mapping[str, object], reply: WireReply, rung: Rung, clock: Callable[[], float]) -> Choice:
    """Read the first choice. Raises CallError where there is none, or where the provider gave up on it."""
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    if not isinstance(first, dict) or not isinstance(message, dict):
        raise MalformedBodyError("the body holds no choice with a message, as Chat Completions has it")
    finish = first.get("finish_reason")
    if finish == "error":
        error = first.get("error")
        if isinstance(error, dict) and error:
            raise call_error(fault_of(error, None, reply.headers), clock())
        raise ServerFaultError("the judge gave up while writing its answer", status=reply.status)
    text, thought, refused = _content(message)
    if rung == "tool" or not text:
        text = _calls(message, reply) or text
    refusal = message.get("refusal")
    refusal = refusal if isinstance(refusal, str) and refusal else refused
    stop = "refusal" if refusal else _stop(finish)
    return Choice(text, stop, refusal, thought or _thinks(message), read_tokens(first.get("logprobs"), text))


def read_usage(value: object) -> Usage:
    """Read token counts; what is absent or no count stays None. Cached tokens are inside the input here."""
    if not isinstance(value, dict):
        return Usage()
    prompt, completion = value.get("prompt_tokens_details"), value.get("completion_tokens_details")
    return Usage(
        input_tokens=count(value, "prompt_tokens"),
        output_tokens=count(value, "completion_tokens"),
        cached_tokens=count(prompt, "cached_tokens"),
        reasoning_tokens=count(completion, "reasoning_tokens"),
        cache_write_tokens=count(prompt, "cache_write_tokens"),
    )


def _stop(finish: object) -> StopReason:
    """Map the stop reason; some servers leave it out of a whole reply, which is no news."""
    if finish is None:
        return "stop"
    return _STOPS.get(finish.lower(), "other") if isinstance(finish, str) else "other"


def _content(message: Mapping[str, object]) -> tuple[str, bool, str | None]:
    """Return the visible text, whether there were thinking blocks, and a refusal block's text."""
    content = message.get("content")
    if isinstance(content, str):
        return content, False, None
    if content is None:
        return "", False, None
    if not isinstance(content, list):
        raise MalformedBodyError("the message's content is neither text nor a list of blocks")
    texts: list[str] = []
    thought = False
    refusal: str | None = None
    for block in content:
        if isinstance(block, str):
            texts.append(block)
        elif isinstance(block, dict):
            kind, text = str(block.get("type")), block.get("text")
            if kind in _TEXT_BLOCKS and isinstance(text, str):
                texts.append(text)
            elif kind == "refusal" and isinstance(block.get("refusal"), str):
                refusal = str(block["refusal"])
            thought = thought or kind in {"thinking", "reasoning", "redacted_thinking"}
    return "".join(texts), thought, refusal


def _thinks(message: Mapping[str, object]) -> bool:
    return any(message.get(name) for name in _REASONING_FIELDS)


def _calls(message: Mapping[str, object], reply: WireReply) -> str:
    return written_arguments(_functions(message), lambda: _functions(_message_as_written(reply.body)))


def _functions(message: Mapping[str, object]) -> list[Mapping[str, object]]:
    calls = message.get("tool_calls")
    found = [call.get("function") for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    return [function for function in (*found, message.get("function_call")) if isinstance(function, dict)]


def _message_as_written(body: bytes) -> Mapping[str, object]:
    """Return the message once more with repeated keys kept, so that a verdict given twice is seen."""
    parsed = read_as_written(body)
    choices = parsed.get("choices") if isinstance(parsed, Written) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, Written) else None
    return message if isinstance(message, Written) else {}
