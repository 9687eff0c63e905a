"""The learning parts alone, with hand arithmetic. How they do against providers stands in test_limited.py."""

from __future__ import annotations

import math

import pytest

from agentanvil.client.adaptive import START, ConcurrencyWindow, RateLearner


def learned(accepted: int, elapsed_s: float, retry_after_s: float, limit: float = math.inf) -> RateLearner:
    """One epoch: `accepted` calls spread over `elapsed_s`, and one more that is refused."""
    learner = RateLearner(limit)
    for number in range(accepted):
        learner.sent(elapsed_s * number / max(1, accepted))
    epoch = learner.sent(elapsed_s)
    learner.refused(epoch)
    learner.end(epoch, elapsed_s, retry_after_s)
    learner.resume(elapsed_s + retry_after_s)
    return learner


@pytest.mark.parametrize(
    ("accepted", "elapsed_s", "retry_after_s", "rate"),
    [
        (10, 0.1, 0.9, 10.0),  # ten in a second
        (600, 2.0, 58.0, 10.0),  # a minute's window, used up in two seconds
        (30, 3.0, 0.0, 10.0),  # refused in the middle of a run
        (0, 0.0, 2.0, 0.5),  # the limit was used up by somebody else: one call after the pause
    ],
)
def test_a_rate_is_what_was_accepted_over_the_time_it_took(
    accepted: int, elapsed_s: float, retry_after_s: float, rate: float
) -> None:
    learner = learned(accepted, elapsed_s, retry_after_s)
    assert learner.rate(elapsed_s + retry_after_s) == pytest.approx(0.98 * rate)


def test_refusals_of_calls_that_were_out_already_count_as_not_accepted() -> None:
    learner = RateLearner()
    epochs = [learner.sent(0.01 * number) for number in range(16)]
    for number in range(10, 16):
        learner.refused(epochs[number])
        learner.end(epochs[number], 0.01 * number + 0.05, 0.9)
    learner.resume(2.0)
    # 10 accepted; refused first at 0.15, and told last (at 0.2) to wait until 1.1
    assert learner.rate(2.0) == pytest.approx(0.98 * 10 / 1.1)


def test_nothing_is_paced_before_anything_was_refused() -> None:
    assert RateLearner().rate(100.0) == math.inf


def test_a_told_limit_is_never_exceeded_however_long_all_goes_well() -> None:
    learner = learned(30, 3.0, 0.0, limit=9.0)
    assert learner.rate(1e6) == 9.0


def test_a_rate_is_probed_upward_after_two_quiet_seconds() -> None:
    learner = learned(10, 0.1, 0.9)
    assert learner.rate(1.0 + 2.0) == pytest.approx(9.8)
    assert learner.rate(1.0 + 3.0) == pytest.approx(9.8 * 1.013)  # 1 + 0.01 × 1 + 0.003 × 1²
    assert learner.rate(1.0 + 12.0) == pytest.approx(9.8 * 1.4)  # 1 + 0.01 × 10 + 0.003 × 10²


def test_a_rate_measured_twice_alike_is_believed_longer() -> None:
    learner = learned(10, 0.1, 0.9)
    epoch = 0
    for number in range(20):
        epoch = learner.sent(1.0 + number / 10)
    learner.refused(epoch)
    learner.end(epoch, 2.9, 0.1)
    learner.resume(3.0)
    assert learner.rate(3.0 + 4.0) == learner.rate(3.0)


def test_too_few_calls_to_measure_halve_the_rate_at_most() -> None:
    learner = learned(100, 10.0, 0.0)
    epoch = learner.sent(10.0)
    learner.refused(epoch)
    learner.end(epoch, 10.0, 60.0)
    learner.resume(70.0)
    assert learner.rate(70.0) == pytest.approx(0.98 * 0.5 * 9.8)


def test_a_late_refusal_of_an_earlier_epoch_is_no_news() -> None:
    learner = learned(10, 0.1, 0.9)
    learner.refused(0)
    learner.end(0, 1.5, 10.0)
    assert not learner.closing


def test_a_window_opens_by_eight_for_every_answer() -> None:
    window = ConcurrencyWindow(100)
    assert window.size == START
    window.succeeded(START, 0.0)
    assert window.size == START + 8


def test_a_window_that_is_not_used_does_not_open() -> None:
    window = ConcurrencyWindow(100)
    window.succeeded(START // 2 - 1, 0.0)
    assert window.size == START


@pytest.mark.parametrize("most", [1, 5, 24, 100])
def test_a_window_never_opens_beyond_what_was_told(most: int) -> None:
    window = ConcurrencyWindow(most)
    for second in range(1000):
        window.succeeded(int(window.size), float(second))
    assert window.size == most


def test_a_window_goes_below_what_fits_and_comes_back_to_it() -> None:
    window = ConcurrencyWindow(24)
    assert window.rejected(21, window.epoch, 0.0)
    assert window.size == pytest.approx(0.85 * 20)
    for _ in range(100):
        window.succeeded(int(window.size), 1.0)
    assert window.size == 20


def test_refusals_of_calls_sent_before_only_lower_what_fits() -> None:
    window = ConcurrencyWindow(24)
    assert window.rejected(24, 0, 0.0)
    assert not window.rejected(23, 0, 0.0)
    assert not window.rejected(22, 0, 0.0)
    assert window.size == pytest.approx(0.85 * 21)


def test_more_than_what_fits_is_tried_again_after_half_a_minute_and_then_a_minute() -> None:
    window = ConcurrencyWindow(100)
    now = 0.0
    for hold_s in (30.0, 60.0):
        window.rejected(21, window.epoch, now)
        for _ in range(200):
            window.succeeded(int(window.size), now + hold_s - 0.1)
        assert window.size == 20
        for _ in range(20):
            window.succeeded(int(window.size), now + hold_s)
        assert 20 < window.size < 22
        now += hold_s


def test_a_window_is_never_empty() -> None:
    window = ConcurrencyWindow(4)
    for second in range(50):
        window.rejected(1, window.epoch, float(second))
    for _ in range(500):
        if window.strained(1):
            window.shrink(1, steep=True)
    assert window.size >= 1


def test_a_single_strain_ends_the_slow_start_and_costs_nothing_else() -> None:
    window = ConcurrencyWindow(100)
    assert not window.strained(START)
    assert not window.slow_start
    assert window.size >= START - 1


def test_frequent_strain_costs_slots_down_to_the_floor() -> None:
    window = ConcurrencyWindow(24)
    for _ in range(500):
        if window.strained(24):
            window.shrink(8, steep=False)
    assert window.size == 8
