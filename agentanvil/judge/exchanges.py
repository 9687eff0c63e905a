"""What a request came to, for the journal: the reply as it was, its tokens and its cost."""

from __future__ import annotations

from agentanvil.client import ChatReply
from agentanvil.errors import CallError
from agentanvil.hashing import well_formed
from agentanvil.verdict import Exchange


def exchange_of(reply: ChatReply) -> Exchange:
    """Return the record of a reply."""
    usage = reply.usage
    return Exchange(
        text=well_formed(reply.text or reply.refusal or ""),
        stop=reply.stop,
        model=reply.model,
        request_id=reply.request_id,
        rung=reply.rung,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cached_tokens=usage.cached_tokens,
        reasoning_tokens=usage.reasoning_tokens,
        attempts=reply.attempts,
        latency_s=reply.latency_s,
        cached=reply.cached,
        cost=reply.cost,
    )


def exchange_of_failure(error: CallError) -> Exchange:
    """Return the record of a call that brought no reply; its tokens are there where they were billed all the same."""
    given, written = error.billed_tokens or (None, None)
    return Exchange(
        attempts=error.attempts, error=error.code, input_tokens=given, output_tokens=written, cost=error.cost
    )
