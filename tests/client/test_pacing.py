from __future__ import annotations

import math
from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.client.headers import RateWindow
from agentanvil.client.pacing import MARGIN, Allowance, Pace, SendGuard, TokenMeter


def leave_times(pace: Pace, count: int, late_s: float = 0.0) -> list[float]:
    now, times = 0.0, []
    for _ in range(count):
        now = max(now, pace.ready_at()) + late_s
        pace.spend(now)
        times.append(now)
    return times


def test_a_pace_spaces_sends_evenly_and_never_bursts() -> None:
    assert leave_times(Pace(10.0), 4) == pytest.approx([0.0, 0.1, 0.2, 0.3])


def test_a_late_timer_does_not_delay_what_comes_after() -> None:
    # the first leaves 5 ms late and starts the schedule; the tenth is 5 ms behind it, not 50
    assert leave_times(Pace(10.0), 10, late_s=0.005)[-1] == pytest.approx(0.91)


def test_an_idle_time_is_not_saved_up() -> None:
    pace = Pace(10.0)
    pace.spend(0.0)
    pace.spend(60.0)
    assert pace.ready_at() == pytest.approx(60.1)


def test_a_pace_without_a_rate_holds_nothing_back() -> None:
    pace = Pace()
    pace.spend(5.0)
    assert pace.ready_at() == 5.0


@pytest.mark.parametrize(
    ("rate", "fits", "window_s"),
    [
        (10.0, 10, 1.01),
        (20.0, 20, 1.01),
        (0.5, 1, 2.02),
        (1.9, 1, 1.01 / 1.9),
        (59.99, 59, 59 / 59.99 * 1.01),
    ],
)
def test_a_guard_lets_a_second_hold_a_seconds_worth(rate: float, fits: int, window_s: float) -> None:
    guard = SendGuard(rate)
    for _ in range(fits):
        assert guard.ready_at() == -math.inf
        guard.spend(100.0, connects=False)
    assert guard.ready_at() == pytest.approx(100.0 + window_s)


def test_a_send_that_opens_a_connection_counts_as_leaving_later() -> None:
    plain, connecting = SendGuard(1.0), SendGuard(1.0)
    plain.spend(0.0, connects=False)
    connecting.spend(0.0, connects=True)
    assert connecting.ready_at() == pytest.approx(plain.ready_at() + 0.05)


@given(
    rpm=st.floats(0.5, 6000.0),
    delays=st.lists(st.floats(0.0, 0.3), min_size=5, max_size=80),
)
def test_no_window_of_a_second_or_a_minute_holds_more_than_was_told(rpm: float, delays: list[float]) -> None:
    """Whatever lateness timers have, arrivals counted over 1 s and over 60 s stay within the told rate."""
    rate = rpm / 60.0
    pace, guard = Pace(rate / (1 + MARGIN)), SendGuard(rate)
    now, sends = 0.0, []
    for delay in delays:
        now = max(now, pace.ready_at(), guard.ready_at()) + delay
        pace.spend(now)
        guard.spend(now, connects=False)
        sends.append(now)
    for window_s, allowed in ((1.0, max(1, math.ceil(rate))), (60.0, max(1, math.ceil(rpm)))):
        trailing: deque[float] = deque()
        for at in sends:
            trailing.append(at)
            while trailing[0] <= at - window_s:
                trailing.popleft()
            assert len(trailing) <= allowed


def test_tokens_are_spaced_by_their_size() -> None:
    meter = TokenMeter(6000 * (1 + MARGIN))  # 100 tokens a second
    meter.spend(0.0, 50.0)
    assert meter.ready_at(0.0, 10.0) == pytest.approx(0.5)
    meter.spend(0.5, 10.0)
    assert meter.ready_at(0.5, 10.0) == pytest.approx(0.6)


def test_usage_settles_an_estimate_both_ways() -> None:
    meter = TokenMeter(6000 * (1 + MARGIN))
    entry = meter.spend(0.0, 50.0)
    meter.settle(0.1, entry, 80.0)
    assert meter.ready_at(0.1, 1.0) == pytest.approx(0.8)
    meter.settle(0.2, entry, 20.0)
    assert meter.ready_at(0.2, 1.0) == pytest.approx(0.2)


def test_a_minute_never_holds_more_tokens_than_the_limit() -> None:
    meter = TokenMeter(10_000)
    now, sent = 0.0, []
    for _ in range(20):
        now = max(now, meter.ready_at(now, 1500.0))
        meter.spend(now, 1500.0)
        sent.append(now)
    for at in sent:
        assert 1500 * sum(at - 60 < other <= at for other in sent) <= 10_000


@pytest.mark.parametrize(
    ("limit", "request_tokens"),
    [pytest.param(100, 200, id="O-C05"), pytest.param(100, 100, id="exactly"), pytest.param(60, 6000, id="x100")],
)
def test_an_oversized_request_borrows_and_what_follows_repays(limit: float, request_tokens: float) -> None:
    meter = TokenMeter(limit)
    assert meter.ready_at(0.0, request_tokens) <= 0.0
    meter.spend(0.0, request_tokens)
    repaid_s = 60.0 * request_tokens / limit
    assert meter.ready_at(1.0, 1.0) == pytest.approx(repaid_s * (1 + MARGIN))


def test_an_oversized_request_waits_until_nothing_else_is_on_the_books() -> None:
    meter = TokenMeter(100)
    meter.spend(0.0, 10.0)
    at = meter.ready_at(1.0, 200.0)
    assert at == pytest.approx(60.0)
    assert meter.ready_at(at, 200.0) <= at


def allowance(remaining: int, reset_s: float, limit: int | None = 100, now: float = 0.0) -> Allowance:
    left = Allowance()
    left.observe(RateWindow(limit, remaining, reset_s), now, 0.0, 120.0)
    return left


def test_nothing_is_sent_beyond_what_is_left_until_the_reset() -> None:
    left = allowance(0, 2.0)
    assert left.ready_at(0.5, 1.0) == pytest.approx(2.0)
    assert left.ready_at(2.0, 1.0) == -math.inf


def test_the_last_tenth_is_spread_over_the_time_to_the_reset() -> None:
    left = allowance(5, 10.0)
    times, now = [], 0.0
    while now < 10.0:
        now = max(now, left.ready_at(now, 1.0))
        if now < 10.0:
            left.spend(now, 1.0)
            times.append(now)
    assert len(times) == 5
    assert times == sorted(times)
    assert times[-1] >= 5.0


def test_plenty_is_not_held_back() -> None:
    left = allowance(90, 50.0)
    for _ in range(50):
        assert left.ready_at(0.0, 1.0) <= 0.0
        left.spend(0.0, 1.0)


def test_calls_in_flight_count_against_what_an_older_answer_said() -> None:
    left = Allowance()
    for _ in range(3):
        left.spend(0.0, 1.0)
    left.observe(RateWindow(100, 2, 10.0), 1.0, 1.0, 120.0)  # the answer to the first of the three
    assert left.ready_at(1.0, 1.0) == pytest.approx(11.0)


def test_after_a_wait_one_call_tries_whether_the_reset_was_real() -> None:
    left = allowance(0, 2.0)
    left.spend(2.0, 1.0)
    assert left.ready_at(2.1, 1.0) == pytest.approx(3.0)
    left.observe(RateWindow(100, 99, 60.0), 2.2, left.spent, 120.0)
    assert left.ready_at(2.2, 1.0) <= 2.2


def test_a_limit_that_refills_bit_by_bit_makes_a_call_wait_for_its_share_only() -> None:
    """A bucket of 60 with 10/s: after 20 and 40 calls it is whole again 2 s and 4 s later."""
    left = Allowance()
    left.observe(RateWindow(60, 40, 2.0), 0.0, 0.0, 120.0)
    left.observe(RateWindow(60, 20, 4.0), 0.0, 0.0, 120.0)
    left.observe(RateWindow(60, 0, 6.0), 0.0, 0.0, 120.0)
    assert left.ready_at(0.0, 1.0) == pytest.approx(0.1)


@pytest.mark.parametrize(
    "window",
    [
        RateWindow(),
        RateWindow(limit=100),
        RateWindow(limit=100, remaining=0),
        RateWindow(limit=100, reset_s=5.0),
        RateWindow(limit=10_000, remaining=0, reset_s=86_400.0),
        RateWindow(limit=0, remaining=0, reset_s=0.0),
    ],
)
def test_headers_that_say_too_little_or_speak_of_days_hold_nothing_back(window: RateWindow) -> None:
    left = Allowance()
    left.observe(window, 0.0, 0.0, 120.0)
    assert left.ready_at(0.0, 1.0) <= 0.0
    left.spend(0.0, 1.0)
    assert left.ready_at(0.0, 1.0) <= 0.0
