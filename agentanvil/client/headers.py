"""What response headers say about waiting and limits. Pure; header names are lower case; times are in seconds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_NUMBER = re.compile(r"\d{1,15}(?:\.\d{1,15})?", re.ASCII)
_SPAN = re.compile(r"(\d{1,15}(?:\.\d{1,15})?)(ms|us|µs|ns|d|h|m|s)", re.ASCII)
_UNIT_S = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_COUNT = re.compile(r"\d{1,15}(?:\.0{1,15})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class RateWindow:
    """One limit as the provider tells it: size, what is left, and seconds until it is whole again."""

    limit: int | None = None
    remaining: int | None = None
    reset_s: float | None = None

    @property
    def known(self) -> bool:
        return self.limit is not None or self.remaining is not None or self.reset_s is not None


@dataclass(frozen=True, slots=True)
class RateHeaders:
    """The request and token limits of one reply; a window without any header is all None."""

    requests: RateWindow = field(default_factory=RateWindow)
    tokens: RateWindow = field(default_factory=RateWindow)

    @property
    def known(self) -> bool:
        return self.requests.known or self.tokens.known

    @property
    def wait_s(self) -> float | None:
        """Seconds until every limit that is used up is whole again, None where none is said to be used up."""
        waits = [w.reset_s for w in (self.requests, self.tokens) if w.remaining == 0 and w.reset_s is not None]
        return max(waits, default=None)


NO_RATES = RateHeaders()


def parse_duration(text: str) -> float | None:
    """Read `17ms`, `7.66s`, `6m0s`, `2h3m4s` or plain seconds; None where it is none of these."""
    text = text.strip()
    if _NUMBER.fullmatch(text):
        return float(text)
    total = 0.0
    end = 0
    for match in _SPAN.finditer(text):
        if match.start() != end:
            return None
        total += float(match[1]) * _UNIT_S[match[2]]
        end = match.end()
    return total if end and end == len(text) else None


def parse_retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Return how many seconds the provider asks to wait, or None where it does not say.

    `retry-after-ms` comes before `retry-after`, which holds seconds or an HTTP date (RFC 9110, 10.2.3).
    `now` is Unix time. A date in the past means no wait. What cannot be read counts as not said.
    """
    milliseconds = headers.get("retry-after-ms")
    if milliseconds is not None and _NUMBER.fullmatch(milliseconds.strip()):
        return float(milliseconds) / 1000.0
    text = headers.get("retry-after")
    if text is None:
        return None
    seconds = parse_duration(text)
    if seconds is not None:
        return seconds
    return _until(_http_date(text.strip()), now)


def parse_rate_headers(headers: Mapping[str, str], now: float) -> RateHeaders:
    """Read the limit headers of OpenAI (`x-ratelimit-*`) or Anthropic (`anthropic-ratelimit-*`).

    `now` is Unix time; Anthropic's resets are RFC 3339 instants. Where Anthropic tells input and output
    tokens apart and no joint window, the input one stands for tokens, unless it is the output that is used up.
    """
    if any(name.startswith("x-ratelimit-") for name in headers):
        return RateHeaders(_openai(headers, "requests"), _openai(headers, "tokens"))
    if any(name.startswith("anthropic-ratelimit-") for name in headers):
        tokens = _anthropic(headers, "tokens", now)
        if not tokens.known:
            tokens, output = _anthropic(headers, "input-tokens", now), _anthropic(headers, "output-tokens", now)
            if not tokens.known or (output.remaining == 0 and tokens.remaining != 0):
                tokens = output
        return RateHeaders(_anthropic(headers, "requests", now), tokens)
    return NO_RATES


def _openai(headers: Mapping[str, str], kind: str) -> RateWindow:
    reset = headers.get(f"x-ratelimit-reset-{kind}")
    return RateWindow(
        _count(headers.get(f"x-ratelimit-limit-{kind}")),
        _count(headers.get(f"x-ratelimit-remaining-{kind}")),
        None if reset is None else parse_duration(reset),
    )


def _anthropic(headers: Mapping[str, str], kind: str, now: float) -> RateWindow:
    prefix = f"anthropic-ratelimit-{kind}"
    reset = headers.get(f"{prefix}-reset")
    return RateWindow(
        _count(headers.get(f"{prefix}-limit")),
        _count(headers.get(f"{prefix}-remaining")),
        None if reset is None else _until(_instant(reset.strip()), now),
    )


def _count(text: str | None) -> int | None:
    if text is None or not _COUNT.fullmatch(text.strip()):
        return None
    return int(float(text))


def _until(moment: datetime | None, now: float) -> float | None:
    return None if moment is None else max(0.0, moment.timestamp() - now)


def _http_date(text: str) -> datetime | None:
    try:
        return _in_utc(parsedate_to_datetime(text))
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _instant(text: str) -> datetime | None:
    try:
        return _in_utc(datetime.fromisoformat(text))
    except (ValueError, OverflowError):
        return None


def _in_utc(moment: datetime) -> datetime:
    """Take a time without a zone (an HTTP date's old spelling, `-0000`) as UTC."""
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
