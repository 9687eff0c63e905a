"""A token of a reply and what else could have stood there."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence

from agentanvil.client import TokenLogprob

_OPENING = ' \t\r\n"{:'


def token_at(tokens: Sequence[TokenLogprob], at: int) -> int | None:
    """Return the place among a reply's tokens, in the order of the text, of the one that holds its character `at`."""
    place = bisect_right(tokens, at, key=lambda token: token.at) - 1
    held = place >= 0 and at < tokens[place].at + len(tokens[place].text)
    return place if held else None


def listed(token: TokenLogprob) -> dict[str, float]:
    """Return the probabilities of the token and its alternatives. Two of one text are one to a reader of the text."""
    found: dict[str, float] = {}
    for text, logprob in token.top:
        found[text] = found.get(text, 0.0) + math.exp(min(logprob, 0.0))
    found.setdefault(token.text, math.exp(min(token.logprob, 0.0)))
    return found


def opened(text: str, before: str) -> str:
    """Return an alternative without what leads up to a value; `before` is what the reply's own token holds of that."""
    return text.removeprefix(before).lstrip(_OPENING)
