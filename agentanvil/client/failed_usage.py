"""What a failed call was billed for: an answer that holds no verdict, only an error, may still count its tokens."""

from __future__ import annotations

from collections.abc import Mapping

from agentanvil.client.adapter import WireReply
from agentanvil.client.counts import count
from agentanvil.client.envelope import read_body
from agentanvil.errors import MalformedBodyError

_PLACES = ("usage", "usageMetadata")
_GIVEN = ("prompt_tokens", "input_tokens", "promptTokenCount")
_WRITTEN = ("completion_tokens", "output_tokens", "candidatesTokenCount")
_THOUGHT = "thoughtsTokenCount"


def billed_tokens(answer: WireReply) -> tuple[int, int] | None:
    """Return the tokens in and out that an answer inside a 2xx counts, None where it counts none of them.

    What was read from a cache is not told apart: the price that follows is the most that it may have been.
    """
    if not 200 <= answer.status < 300:
        return None
    try:
        body = read_body(answer.body)
    except MalformedBodyError:
        return None
    usage = next((body[place] for place in _PLACES if place in body), None) if isinstance(body, Mapping) else None
    given, written = _first(usage, _GIVEN), _first(usage, _WRITTEN)
    if given is None and written is None:
        return None
    return given or 0, (written or 0) + (count(usage, _THOUGHT) or 0)


def _first(usage: object, names: tuple[str, ...]) -> int | None:
    return next((found for name in names if (found := count(usage, name)) is not None), None)
