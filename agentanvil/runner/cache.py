"""Looking after the reply cache: the file that a run here would use, counted, shrunk, emptied, carried elsewhere."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from agentanvil.client.cache_admin import CacheStats, cache_clear, cache_prune, cache_stats
from agentanvil.client.cache_transfer import cache_export, cache_import
from agentanvil.errors import UsageError
from agentanvil.runner.stack import CACHE_OFF, cache_path

__all__ = [
    "CacheStats",
    "cache_clear",
    "cache_export",
    "cache_import",
    "cache_stats",
    "find_cache",
    "parse_age",
    "parse_size",
    "prune_cache",
]

_AGE = re.compile(r"(\d{1,12}(?:\.\d{1,12})?)\s*(s|m|h|d|w)", re.ASCII)
_AGE_UNITS_S = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_SIZE = re.compile(r"(\d{1,18}(?:\.\d{1,12})?)\s*(k|m|g|t)?(i)?b?", re.ASCII | re.IGNORECASE)
_MOST_BYTES = 2**62  # more than any file holds, and still a number for SQLite
_SIZE_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def find_cache(chosen: str | None, environ: Mapping[str, str]) -> Path:
    """Return the cache's file by the rule that runs use. Raises UsageError where the cache is switched off."""
    if chosen == CACHE_OFF:
        raise UsageError("the cache is switched off here", hint="Name its file: --cache PATH.")
    return cache_path(chosen, environ)


def prune_cache(path: Path, now: float, *, older_than: str | None, max_size: str | None) -> CacheStats:
    """Drop replies by age (`30d`) and size (`500MB`); return what is left. `now` is Unix time. Raises UsageError."""
    if older_than is None and max_size is None:
        raise UsageError("nothing to prune by", hint="Give --older-than 30d, --max-size 500MB, or both.")
    age_s = None if older_than is None else parse_age(older_than)
    size = None if max_size is None else parse_size(max_size)
    return cache_prune(path, now, older_than_s=age_s, max_bytes=size)


def parse_age(text: str) -> float:
    """Return seconds for `90s`, `15m`, `12h`, `30d` or `2w`. Raises UsageError."""
    match = _AGE.fullmatch(text.strip().lower())
    if match is None:
        raise UsageError(f"{text!r} is no age", hint="Write a number and s, m, h, d or w: 12h, 30d.")
    return float(match[1]) * _AGE_UNITS_S[match[2]]


def parse_size(text: str) -> int:
    """Return bytes for `500MB`, `1.5 GiB`, `800k` or plain bytes. Raises UsageError.

    Units are powers of 1000, with an `i` of 1024.
    """
    match = _SIZE.fullmatch(text.strip())
    unit = (match[2] or "").lower() if match is not None else ""
    if match is None or (match[3] and not unit):
        raise UsageError(f"{text!r} is no size", hint="Write bytes, or a number and KB, MB or GB: 500MB.")
    return min(_MOST_BYTES, int(float(match[1]) * (1024 if match[3] else 1000) ** _SIZE_POWERS[unit]))
