"""When the next call may be sent: schedules and windows over send times. Pure; times are seconds on one clock.

Each part answers `ready_at(...)`, the earliest moment it allows, and is told of every send by `spend(...)`.
"""

from __future__ import annotations

import math
from collections import deque

from agentanvil.client.headers import RateWindow

MARGIN = 0.02
"""How far below a told limit calls are sent, since a provider counts arrivals and not departures."""

_LATE_S = 0.01
_CONNECT_S = 0.05
_TRIAL_S = 1.0


class Pace:
    """Evenly spaced sends: the generic cell rate algorithm without a burst.

    Timers fire late; a send that is late by up to 10 ms does not delay the schedule behind it.
    """

    __slots__ = ("_next", "rate")

    def __init__(self, rate: float = math.inf) -> None:
        self.rate = rate
        self._next = -math.inf

    def ready_at(self) -> float:
        return self._next

    def spend(self, now: float, weight: float = 1.0) -> None:
        self._next = (self._next if now - self._next <= _LATE_S else now) + weight / self.rate

    def repay(self, weight: float) -> None:
        """Correct the last charges by `weight`: positive where they were too low."""
        self._next += weight / self.rate

    def restart(self, now: float) -> None:
        """Forget what was scheduled: the next send may leave at `now`."""
        self._next = now


class SendGuard:
    """No trailing second ever holds more than a second's worth of sends.

    For rates below one a second the window is the time of one send. A send that probably opens a connection
    arrives later than it left, so it counts as leaving later; otherwise the burst behind it would catch up.
    """

    __slots__ = ("_sends", "_window_s")

    def __init__(self, rate: float) -> None:
        count = max(1, math.floor(rate + 1e-9))
        self._sends: deque[float] = deque(maxlen=count)
        self._window_s = count / rate * (1 + MARGIN / 2)

    def ready_at(self) -> float:
        if len(self._sends) < (self._sends.maxlen or 0):
            return -math.inf
        return self._sends[0] + self._window_s

    def spend(self, now: float, *, connects: bool) -> None:
        self._sends.append(now + _CONNECT_S if connects else now)


class TokenMeter:
    """Tokens a minute, charged by estimate and settled by usage.

    Spaced like `Pace`, and no trailing minute holds more than the limit. A request above the whole limit
    borrows: it leaves once nothing else is on the books, and the calls behind it wait until it is repaid.
    """

    __slots__ = ("_limit", "_log", "_pace", "_total")

    def __init__(self, per_minute: float) -> None:
        self._limit = per_minute
        self._pace = Pace(per_minute / 60.0 / (1 + MARGIN))
        self._log: deque[list[float]] = deque()
        self._total = 0.0

    def ready_at(self, now: float, weight: float) -> float:
        self._expire(now)
        needed = self._total + min(weight, self._limit) - self._limit
        at = self._pace.ready_at()
        if needed <= 0:
            return at
        for left_at, charged in self._log:
            needed -= charged
            if needed <= 1e-9:
                return max(at, left_at + 60.0)
        return at

    def spend(self, now: float, weight: float) -> list[float]:
        """Charge an estimate; the returned entry is what `settle` corrects."""
        self._pace.spend(now, weight)
        entry = [now, weight]
        self._log.append(entry)
        self._total += weight
        return entry

    def settle(self, now: float, entry: list[float], weight: float) -> None:
        """Replace an estimate by what was used."""
        self._expire(now)
        change = weight - entry[1]
        self._pace.repay(change)
        entry[1] = weight
        if entry[0] > now - 60.0:
            self._total += change

    def _expire(self, now: float) -> None:
        while self._log and self._log[0][0] <= now - 60.0:
            self._total -= self._log.popleft()[1]


class Allowance:
    """What rate-limit headers said is left of one limit, less what was sent since.

    Nothing is sent beyond what is left until the reset; the last tenth is spread over the time until then.
    Whether a limit refills bit by bit is learned: there, unlike in a fixed window, spending moves the moment
    at which it is whole again. Then a call waits for its own share only.
    """

    __slots__ = ("_anchor", "_left", "_next", "_refill", "_reset_at", "_seen_at", "_size", "_trying", "spent")

    def __init__(self) -> None:
        self.spent = 0.0
        self._left = math.inf
        self._size = math.inf
        self._seen_at = -math.inf
        self._reset_at = -math.inf
        self._next = -math.inf
        self._refill = 0.0
        self._anchor: tuple[float, float] | None = None
        self._trying = False

    def observe(self, window: RateWindow, now: float, spent_then: float, longest_s: float) -> None:
        """Take in one answer's headers; `spent_then` is `spent` right after its request was sent.

        A reset further away than `longest_s` belongs to a limit that pacing cannot serve, such as a daily one.
        """
        if window.remaining is None or window.reset_s is None or not 0 < window.reset_s <= longest_s:
            return
        self._trying = False
        self._seen_at = now
        self._reset_at = now + window.reset_s
        self._size = window.limit or math.inf
        self._left = window.remaining - (self.spent - spent_then)
        self._learn_refill(window.remaining, window.reset_s)
        if not self._scarce(now):
            self._next = -math.inf

    def ready_at(self, now: float, weight: float) -> float:
        if now >= self._reset_at:
            return -math.inf
        lacking = min(weight, self._size) - self._level(now)
        if lacking <= 0:
            return self._next
        share = now + lacking / self._refill if self._refill else self._reset_at
        return max(self._next, min(self._reset_at, share))

    def spend(self, now: float, weight: float) -> None:
        self.spent += weight
        if now >= self._reset_at:
            self._begin_anew(now)
            return
        if self._scarce(now):
            rate = max(self._refill, self._level(now) / (self._reset_at - now))
            self._next = max(now, self._next) + weight / max(rate, 1e-6)
        self._left -= weight

    def _begin_anew(self, now: float) -> None:
        """The reset is past. If calls were held back, one goes first: resets are rounded, and clocks differ."""
        waited = not self._refill and self._scarce(now)
        self._left = 0.0 if waited and not self._trying else math.inf
        self._trying = waited and not self._trying
        if self._trying:
            self._reset_at = now + _TRIAL_S

    def _level(self, now: float) -> float:
        return self._left + self._refill * (now - self._seen_at)

    def _scarce(self, now: float) -> bool:
        return self._level(now) < (0.1 * self._size if self._size < math.inf else 5.0)

    def _learn_refill(self, remaining: float, reset_s: float) -> None:
        if self._anchor is None or remaining >= self._anchor[1]:
            self._anchor = (self._reset_at, remaining)
        elif self._reset_at > self._anchor[0] + 1.05 and self._size < math.inf:
            self._refill = (self._size - remaining) / reset_s
