"""Log-probabilities as Chat Completions has them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def token(text: str | bytes, p: float = 1.0, others: Mapping[str, float] | None = None) -> dict[str, Any]:
    """A token of probability `p` with alternatives of theirs, itself the first."""
    raw = text if isinstance(text, bytes) else text.encode()
    written = raw.decode("utf-8", "replace")
    listed = {written: p, **(others or {})}
    top = [
        {"token": name, "bytes": [*(raw if name == written else name.encode())], "logprob": math.log(q)}
        for name, q in listed.items()
    ]
    return {"token": written, "bytes": [*raw], "logprob": math.log(p), "top_logprobs": top}


def spelling(text: str, alternatives: int = 5) -> dict[str, Any]:
    """A choice's `logprobs` in which one token spells all of the text."""
    others = {f"other {number}": 0.1 / number for number in range(1, alternatives)}
    return {"content": [token(text, 0.7, others)]}
