"""What the limiter learns about a provider that told no limits: how many calls at once, and how many a second."""

from __future__ import annotations

import math

START = 24
"""Calls in flight before the first answers are in."""

_SLOW_START_GAIN = 8.0
_BACK_OFF = 0.85
_NEAR = 0.9
_HOLD_S = 30.0
_HOLD_MAX_S = 600.0
_STRAIN_WEIGHT = 1 / 64
_STRAIN_RARE = 0.1
_STRAIN_LEAST = 0.25
_GENTLE = 0.2
_STEEP = 1.0
_LEARNED = 0.98
_PROBE = 0.01
_PROBE_MORE = 0.003
_PROBE_AFTER_S = 2.0
_PROBE_AFTER_MAX_S = 60.0


class ConcurrencyWindow:
    """How many calls may be in flight: slow start, then additive growth and multiplicative shrinking.

    The calls that are out when one is turned away, less those turned away after it, are what fits. The window
    goes below that, comes back to it, and tries more only after half a minute, then after twice as long each
    time, so that a fixed limit is not run into again and again. It grows only while it holds calls back.
    """

    __slots__ = ("_ceiling", "_fits", "_hold_s", "_most", "_retry_at", "_strain", "epoch", "size", "slow_start")

    def __init__(self, most: int) -> None:
        self.size = float(min(most, START))
        self.epoch = 0
        self.slow_start = True
        self._most = float(most)
        self._ceiling = self._most
        self._fits = self._most
        self._hold_s = _HOLD_S
        self._retry_at = math.inf
        self._strain = 0.0

    def succeeded(self, in_flight: int, now: float) -> None:
        """One call was answered while `in_flight` were out, itself included."""
        self._strain -= self._strain * _STRAIN_WEIGHT
        if in_flight < (self.size / 2 if self.slow_start else self.size - 1) or self._strain > _STRAIN_RARE:
            return
        if now >= self._retry_at:
            self._ceiling = self._most
        if self.slow_start:
            gain = _SLOW_START_GAIN
        elif self.size < _NEAR * self._fits:
            gain = 0.5
        else:
            gain = 1.0 / self.size
        self.size = min(self.size + gain, self._ceiling)
        if in_flight >= self._most:
            self.slow_start = False

    def rejected(self, in_flight: int, epoch: int, now: float) -> bool:
        """A call was turned away while `in_flight` were out, itself included; True if that is news.

        `epoch` is what it was when the call was sent: calls sent before the last news only add to it.
        """
        self.slow_start = False
        if epoch < self.epoch:
            if epoch == self.epoch - 1:
                self._settle(self._fits - 1)
            return False
        self.epoch += 1
        if in_flight - 1 >= _NEAR * self._fits and self._retry_at < math.inf:
            self._hold_s = min(2 * self._hold_s, _HOLD_MAX_S)
        self._settle(in_flight - 1)
        self._retry_at = now + self._hold_s
        return True

    def fitted(self, in_flight: int) -> bool:
        """Whether more at once were fine before, so that a rejection now is not about their number."""
        return in_flight <= 1 or (self.epoch > 0 and in_flight - 1 <= _BACK_OFF * self._fits)

    def strained(self, in_flight: int) -> bool:
        """An overload or a lost connection while `in_flight` were out, itself included; True if they come often.

        It ends the slow start; a single one is otherwise bad luck.
        """
        if self.slow_start:
            self.slow_start = False
            self.size = max(in_flight - 1.0, min(self.size, float(START)))
        self._strain += (1 - self._strain) * _STRAIN_WEIGHT
        return self._strain > _STRAIN_RARE

    def shrink(self, floor: int, *, steep: bool) -> None:
        """Give up slots for the strain there is, many where it is surely about their number; never below `floor`."""
        excess = self._strain - _STRAIN_RARE
        loss = max(_STRAIN_LEAST, (_STEEP if steep else _GENTLE) * excess * self.size)
        self.size = max(self.size - loss, min(self.size, float(floor)))
        self._fits = self.size

    def _settle(self, fits: float) -> None:
        self._fits = self._ceiling = max(1.0, fits)
        self.size = max(1.0, min(self.size, _BACK_OFF * fits))


class RateLearner:
    """Calls a second, measured between rejections and probed upward from there.

    An epoch runs from the first send after a pause to the first rejection. Whatever the provider's window
    is, it let through `accepted` calls in `elapsed + retry_after` seconds, so that is a rate it sustains.
    A rate that was measured twice alike is believed, and probed again after twice as long.
    """

    __slots__ = (
        "_base", "_clean_since", "_epoch", "_hold_s", "_limit", "_measured", "_refused", "_refused_at",
        "_retry_after_s", "_sent", "_started",
    )  # fmt: skip

    def __init__(self, limit: float = math.inf) -> None:
        self._limit = limit
        self._base = limit
        self._epoch = 0
        self._started: float | None = None
        self._sent = 0
        self._refused = 0
        self._refused_at = math.inf
        self._retry_after_s = 0.0
        self._measured = 0.0
        self._clean_since = math.inf
        self._hold_s = _PROBE_AFTER_S

    @property
    def closing(self) -> bool:
        """Whether the epoch has ended and the rate of the next one is to be computed."""
        return self._refused_at < math.inf

    def sent(self, now: float) -> int:
        """Count a send; the number returned belongs to the call and goes to `refused` and `end`."""
        if self._started is None:
            self._started = now
        self._sent += 1
        return self._epoch

    def refused(self, epoch: int) -> None:
        """A call did not go through, for a reason that may not be the rate."""
        if epoch == self._epoch:
            self._refused += 1

    def end(self, epoch: int, now: float, retry_after_s: float) -> None:
        """A call sent in `epoch` was refused for its rate: nothing is sent for `retry_after_s`, then measure."""
        if epoch != self._epoch:
            return
        self._refused_at = min(self._refused_at, now)
        self._retry_after_s = max(self._retry_after_s, now + retry_after_s - self._refused_at)

    def resume(self, now: float) -> None:
        """The pause is over: measure the epoch and begin the next."""
        accepted = self._sent - self._refused
        started = now if self._started is None else self._started
        span_s = max(1e-3, self._refused_at - started + self._retry_after_s)
        measured = max(1, accepted) / span_s
        if accepted < 3 and self._base < math.inf:
            measured = min(max(measured, 0.5 * self._base), self._base)
        alike = 0.85 * self._measured <= measured <= 1.15 * self._measured
        self._hold_s = min(2 * self._hold_s, _PROBE_AFTER_MAX_S) if alike else _PROBE_AFTER_S
        self._measured = measured
        self._base = min(_LEARNED * measured, self._limit)
        self._epoch += 1
        self._started = None
        self._sent = self._refused = 0
        self._refused_at = math.inf
        self._retry_after_s = 0.0
        self._clean_since = now

    def rate(self, now: float) -> float:
        """Return calls a second for now; infinite while nothing is known."""
        clean_s = now - self._clean_since - self._hold_s
        if clean_s <= 0 or self._base == math.inf:
            return self._base
        return min(self._limit, self._base * (1 + _PROBE * clean_s + _PROBE_MORE * clean_s**2))
