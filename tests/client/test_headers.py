from __future__ import annotations

import math
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.client.headers import RateWindow, parse_duration, parse_rate_headers, parse_retry_after

NOW = datetime(2031, 1, 1, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        pytest.param({"retry-after": "Wed, 01 Jan 2031 00:00:30 GMT"}, 30.0, id="O-C02-date"),
        pytest.param({"retry-after": "Wednesday, 01-Jan-31 00:00:30 GMT"}, 30.0, id="rfc850-date"),
        pytest.param({"retry-after": "Wed Jan  1 00:00:30 2031"}, 30.0, id="asctime-date"),
        pytest.param({"retry-after": "Wed, 01 Jan 2031 01:00:30 +0100"}, 30.0, id="offset-date"),
        pytest.param({"retry-after": "Tue, 31 Dec 2030 23:59:00 GMT"}, 0.0, id="past-date"),
        pytest.param({"retry-after": "90"}, 90.0, id="O-C01-seconds"),
        pytest.param({"retry-after": " 1.5 "}, 1.5, id="fraction"),
        pytest.param({"retry-after": "0"}, 0.0, id="zero"),
        pytest.param({"retry-after": "2s"}, 2.0, id="duration"),
        pytest.param({"retry-after-ms": "250", "retry-after": "9"}, 0.25, id="ms-first"),
        pytest.param({"retry-after-ms": "soon", "retry-after": "9"}, 9.0, id="bad-ms-falls-back"),
        pytest.param({"retry-after": "-1"}, None, id="negative"),
        pytest.param({"retry-after": "nan"}, None, id="nan"),
        pytest.param({"retry-after": "inf"}, None, id="inf"),
        pytest.param({"retry-after": "later"}, None, id="word"),
        pytest.param({"retry-after": ""}, None, id="empty"),
        pytest.param({"retry-after": "٣"}, None, id="foreign-digit"),
        pytest.param({"retry-after": "Wed, 99 Jan 2031 00:00:30 GMT"}, None, id="no-such-date"),
        pytest.param({"retry-after": "Wed, 01 Jan 99999999999999999999 00:00:30 GMT"}, None, id="far-year"),
        pytest.param({}, None, id="absent"),
    ],
)
def test_retry_after_is_read_in_every_spelling(headers: dict[str, str], expected: float | None) -> None:
    assert parse_retry_after(headers, NOW) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("17ms", 0.017),
        ("7.66s", 7.66),
        ("6m0s", 360.0),
        ("2h3m4s", 7384.0),
        ("1d", 86400.0),
        ("60", 60.0),
        ("6m 0s", None),
        ("s", None),
        ("-1s", None),
        ("", None),
    ],
)
def test_durations(text: str, expected: float | None) -> None:
    assert parse_duration(text) == (None if expected is None else pytest.approx(expected))


def test_openai_rate_headers() -> None:
    rates = parse_rate_headers(
        {
            "x-ratelimit-limit-requests": "500",
            "x-ratelimit-remaining-requests": "499",
            "x-ratelimit-reset-requests": "120ms",
            "x-ratelimit-limit-tokens": "30000",
            "x-ratelimit-remaining-tokens": "0",
            "x-ratelimit-reset-tokens": "6m0s",
        },
        NOW,
    )
    assert rates.requests == RateWindow(500, 499, pytest.approx(0.12))
    assert rates.tokens == RateWindow(30000, 0, 360.0)


def test_anthropic_rate_headers_hold_instants() -> None:
    rates = parse_rate_headers(
        {
            "anthropic-ratelimit-requests-limit": "50",
            "anthropic-ratelimit-requests-remaining": "0",
            "anthropic-ratelimit-requests-reset": "2031-01-01T00:00:07Z",
            "anthropic-ratelimit-input-tokens-remaining": "12000",
            "anthropic-ratelimit-input-tokens-reset": "2031-01-01T01:00:09+01:00",
        },
        NOW,
    )
    assert rates.requests == RateWindow(50, 0, 7.0)
    assert rates.tokens == RateWindow(None, 12000, 9.0)


@pytest.mark.parametrize(
    ("left_in", "left_out", "wait_s"), [("5", "0", 9.0), ("0", "0", 7.0), ("0", "5", 7.0), ("5", "5", None)]
)
def test_anthropics_tokens_are_those_that_are_used_up(left_in: str, left_out: str, wait_s: float | None) -> None:
    rates = parse_rate_headers(
        {
            "anthropic-ratelimit-input-tokens-remaining": left_in,
            "anthropic-ratelimit-input-tokens-reset": "2031-01-01T00:00:07Z",
            "anthropic-ratelimit-output-tokens-remaining": left_out,
            "anthropic-ratelimit-output-tokens-reset": "2031-01-01T00:00:09Z",
        },
        NOW,
    )
    assert rates.wait_s == wait_s


def test_headers_that_say_nothing_are_not_known() -> None:
    assert not parse_rate_headers({"content-type": "application/json"}, NOW).known
    assert not parse_rate_headers({"x-ratelimit-limit-requests": "lots"}, NOW).known


@given(st.text(max_size=40), st.sampled_from(["retry-after", "retry-after-ms"]))
def test_any_retry_after_is_a_wait_or_nothing(text: str, name: str) -> None:
    wait = parse_retry_after({name: text}, NOW)
    assert wait is None or (math.isfinite(wait) and wait >= 0)


@given(st.text(max_size=40))
def test_any_rate_header_is_read_without_error(text: str) -> None:
    names = ("limit", "remaining", "reset")
    headers = {f"x-ratelimit-{name}-tokens": text for name in names}
    headers |= {f"anthropic-ratelimit-tokens-{name}": text for name in names}
    for chosen in (headers, {k: v for k, v in headers.items() if k.startswith("anthropic")}):
        window = parse_rate_headers(chosen, NOW).tokens
        assert window.reset_s is None or (math.isfinite(window.reset_s) and window.reset_s >= 0)
