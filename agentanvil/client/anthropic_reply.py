"""What a reply of Anthropic Messages says: its stop reason, its text in whichever block it stands, its usage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agentanvil.client.adapter import Rung, WireReply
from agentanvil.client.base import StopReason, Usage
from agentanvil.client.counts import count
from agentanvil.client.envelope import read_as_written
from agentanvil.client.tool_arguments import written_arguments
from agentanvil.errors import MalformedBodyError

_STOPS: Mapping[str, StopReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}
_THINKING = frozenset({"thinking", "redacted_thinking"})


@dataclass(frozen=True, slots=True)
class Said:
    """What one message says, after its stop reason and its blocks were read."""

    text: str
    stop: StopReason
    refusal: str | None
    reasoning: bool


def read_message(body: Mapping[str, object], reply: WireReply, rung: Rung) -> Said:
    """Read a message; blocks are told by their type, wherever they stand. Raises MalformedBodyError where it is none.

    An empty thinking block counts as reasoning: the model thought, and what it thought is withheld.
    """
    blocks = _blocks(body)
    text = "".join(_text(block) for block in blocks if block.get("type") == "text")
    if rung == "tool" or not text:
        text = written_arguments(_inputs(blocks), lambda: _inputs(_blocks(read_as_written(reply.body)))) or text
    stop = _stop(body.get("stop_reason"))
    return Said(
        text=text,
        stop=stop,
        refusal=_explanation(body) if stop == "refusal" else None,
        reasoning=any(str(block.get("type")) in _THINKING for block in blocks),
    )


def read_usage(value: object) -> Usage:
    """Read token counts; what is absent or no count stays None.

    The API counts what is read from its cache, and what is written to it, beside the input, while all three are what
    the prompt came to.
    """
    fresh = count(value, "input_tokens")
    written, cached = count(value, "cache_creation_input_tokens"), count(value, "cache_read_input_tokens")
    details = value.get("output_tokens_details") if isinstance(value, dict) else None
    return Usage(
        input_tokens=None if fresh is None else fresh + (written or 0) + (cached or 0),
        output_tokens=count(value, "output_tokens"),
        cached_tokens=cached,
        reasoning_tokens=count(details, "thinking_tokens"),
        cache_write_tokens=written,
    )


def _text(block: Mapping[str, object]) -> str:
    text = block.get("text")
    if not isinstance(text, str):
        raise MalformedBodyError("a text block holds no text")
    return text


def _stop(reason: object) -> StopReason:
    """Map the stop reason; a gateway may leave it out of a whole reply, which is no news."""
    if reason is None:
        return "stop"
    return _STOPS.get(reason, "other") if isinstance(reason, str) else "other"


def _blocks(body: object) -> list[Mapping[str, object]]:
    content = body.get("content") if isinstance(body, dict) else None
    if not isinstance(content, list):
        raise MalformedBodyError("the body holds no list of content blocks, as Messages has it")
    return [block for block in content if isinstance(block, dict)]


def _inputs(blocks: list[Mapping[str, object]]) -> list[dict[str, object]]:
    return [{"arguments": block.get("input")} for block in blocks if block.get("type") == "tool_use"]


def _explanation(body: Mapping[str, object]) -> str | None:
    """Return why the model declined, in the provider's words, where it says so."""
    details = body.get("stop_details")
    said = [details.get(name) for name in ("category", "explanation")] if isinstance(details, dict) else []
    return ": ".join(text for text in said if isinstance(text, str) and text) or None
