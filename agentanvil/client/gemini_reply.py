"""What a reply of Gemini says: blocked or not, its stop reason, its visible parts, its usage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agentanvil.client.adapter import Rung, WireReply
from agentanvil.client.base import StopReason, TokenLogprob, Usage
from agentanvil.client.counts import count
from agentanvil.client.envelope import read_as_written, readable
from agentanvil.client.token_logprobs import read_tokens
from agentanvil.client.tool_arguments import written_arguments
from agentanvil.errors import MalformedBodyError, ServerFaultError

_STOPS: Mapping[str, StopReason] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "SAFETY": "blocked",
    "RECITATION": "blocked",
    "LANGUAGE": "blocked",
    "BLOCKLIST": "blocked",
    "PROHIBITED_CONTENT": "blocked",
    "SPII": "blocked",
}
_MISGENERATED = frozenset({"MALFORMED_RESPONSE", "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"})


@dataclass(frozen=True, slots=True)
class Said:
    """What the first candidate says, after its stop reason and its parts were read."""

    text: str = ""
    stop: StopReason = "stop"
    reasoning: bool = False
    tokens: tuple[TokenLogprob, ...] = ()


def read_candidate(body: Mapping[str, object], reply: WireReply, rung: Rung) -> Said:
    """Read the first candidate; a blocked prompt has none. Raises MalformedBodyError, ServerFaultError."""
    candidate = _first(body)
    if candidate is None:
        feedback = body.get("promptFeedback")
        if isinstance(feedback, dict) and feedback.get("blockReason"):
            return Said(stop="blocked")
        raise MalformedBodyError("the body holds no candidate, and no reason why")
    stop = _stop(candidate.get("finishReason"), reply)
    parts = _parts(candidate)
    text = "".join(_text(part) for part in parts if not part.get("thought"))
    if rung == "tool" or not text:
        text = (
            written_arguments(_calls(parts), lambda: _calls(_parts(_first(read_as_written(reply.body)) or {}))) or text
        )
    tokens = read_tokens(_as_chat_logprobs(candidate.get("logprobsResult")), text)
    return Said(text, stop, any(part.get("thought") for part in parts), tokens)


def read_usage(value: object) -> Usage:
    """Read token counts. A count of zero is left out of the body, so one that is absent beside the input is 0.

    Thinking is counted beside the answer, while both are billed as output; cached tokens are inside the input.
    """
    prompt = count(value, "promptTokenCount")
    written, thought = count(value, "candidatesTokenCount"), count(value, "thoughtsTokenCount")
    known = prompt is not None or written is not None
    return Usage(
        input_tokens=prompt,
        output_tokens=(written or 0) + (thought or 0) if known else None,
        cached_tokens=count(value, "cachedContentTokenCount"),
        reasoning_tokens=thought,
    )


def _first(body: object) -> Mapping[str, object] | None:
    candidates = body.get("candidates") if isinstance(body, dict) else None
    first = candidates[0] if isinstance(candidates, list) and candidates else None
    return first if isinstance(first, dict) else None


def _parts(candidate: Mapping[str, object]) -> list[Mapping[str, object]]:
    """Return the parts; content without any, and a candidate without content, are no news."""
    content = candidate.get("content")
    parts = content.get("parts") if isinstance(content, dict) else content
    if parts is None:
        return []
    if not isinstance(parts, list):
        raise MalformedBodyError("the candidate's content holds no list of parts, as generateContent has it")
    return [part for part in parts if isinstance(part, dict)]


def _text(part: Mapping[str, object]) -> str:
    text = part.get("text", "")
    if not isinstance(text, str):
        raise MalformedBodyError("a text part holds no text")
    return text


def _stop(reason: object, reply: WireReply) -> StopReason:
    """Map the stop reason; an answer that ended for a reason without a place here is none."""
    if reason is None:
        return "stop"
    stop = _STOPS.get(reason) if isinstance(reason, str) else None
    if stop is not None:
        return stop
    if isinstance(reason, str) and reason in _MISGENERATED:
        raise MalformedBodyError(f"the judge wrote what its API cannot read: {reason}", status=reply.status)
    raise ServerFaultError(f"the judge gave up while writing its answer: {readable(str(reason))}", status=reply.status)


def _calls(parts: list[Mapping[str, object]]) -> list[dict[str, object]]:
    calls = [part.get("functionCall") for part in parts]
    return [{"arguments": call.get("args")} for call in calls if isinstance(call, dict)]


def _as_chat_logprobs(result: object) -> dict[str, object]:
    """Return a `logprobsResult` in the form that Chat Completions has: alternatives inside their token's entry."""
    chosen, others = (_listed(result, name) for name in ("chosenCandidates", "topCandidates"))
    entries = []
    for place, token in enumerate(chosen):
        listed = _listed(others[place], "candidates") if place < len(others) else []
        entries.append({**_entry(token), "top_logprobs": [_entry(other) for other in listed]})
    return {"content": entries}


def _entry(candidate: object) -> dict[str, object]:
    if not isinstance(candidate, dict):
        return {}
    return {"token": candidate.get("token"), "logprob": candidate.get("logProbability")}


def _listed(holder: object, name: str) -> list[object]:
    value = holder.get(name) if isinstance(holder, dict) else None
    return value if isinstance(value, list) else []
