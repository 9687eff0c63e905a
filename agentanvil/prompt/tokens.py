"""How many tokens a text will cost, roughly, without any model's tokenizer."""

from __future__ import annotations

import re

from agentanvil.prompt.contract import Contract

# Scripts whose tokenizers spend about one token a character: CJK ideographs, kana, hangul, full-width forms.
_WIDE = re.compile(
    "[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]+"
)
BYTES_PER_TOKEN = 4
# With their JSON, measured on the demo rows with several judges.
EVIDENCE_TOKENS = 30
REASON_TOKENS = 20
VERDICT_TOKENS = 10


def estimate_tokens(text: str) -> int:
    """Return one token for every 4 bytes of UTF-8, and one for every wide (Chinese, Japanese, Korean) character.

    A rule of thumb: within about a quarter of byte-pair tokenizers on prose, low on dense code and hex digits. What
    looks like a special token (`<|endoftext|>`) is counted as the text it is. Lone surrogates count as 3 bytes.
    """
    if text.isascii():
        return -(-len(text) // BYTES_PER_TOKEN)
    wide = "".join(_WIDE.findall(text))
    narrow_bytes = len(text.encode("utf-8", "surrogatepass")) - len(wide.encode())
    return len(wide) + -(-narrow_bytes // BYTES_PER_TOKEN)


def estimate_reply_tokens(contract: Contract) -> int:
    """Return what a reply that keeps to the contract takes: evidence, reason and verdict of each dimension."""
    sides, reason = len(contract.evidence_keys), contract.reasoned and contract.reply.format == "json"
    each = sides * EVIDENCE_TOKENS + (REASON_TOKENS if reason else 0) + VERDICT_TOKENS
    return each * len(contract.dimensions)
