"""Canonical hashing and seed derivation: the same content gives the same id on every machine."""

from __future__ import annotations

import hashlib

import orjson


def well_formed(text: str) -> str:
    """Return `text` with lone surrogates replaced by U+FFFD, so that it can be encoded as UTF-8."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def canonical_json(value: object) -> bytes:
    """Serialise JSON data with sorted keys, no spaces, UTF-8. Raises TypeError on other data."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def digest(*parts: str | bytes) -> str:
    """Return 32 hex digits (BLAKE2b, 128 bits) over the parts; parts never run into each other."""
    state = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        state.update(len(data).to_bytes(8, "big"))
        state.update(data)
    return state.hexdigest()


def derive_seed(*parts: str | int) -> int:
    """Return a 63-bit seed that depends on the parts alone."""
    return int(digest(*(str(part) for part in parts))[:16], 16) >> 1
