"""One provider's limits in one place: when a call may leave, and what its outcome teaches. Pure; no waiting here."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass

from agentanvil.client.adaptive import START, ConcurrencyWindow, RateLearner
from agentanvil.client.base import ChatReply, ChatRequest
from agentanvil.client.headers import RateHeaders
from agentanvil.client.pacing import MARGIN, Allowance, Pace, SendGuard, TokenMeter
from agentanvil.errors import CallError, ConnectionFaultError, DeadlineError, RateLimitedError, TransientError

_OVERLOADED = frozenset({503, 529})
_FIRST_PACE = 500.0
_PACE_GAIN = 5.0
_QUICK_S = 0.05
_UNHINTED_PAUSE_S = 0.05
_UNHINTED_PAUSE_MAX_S = 10.0
_ANSWER_TOKENS = 200.0
_SCALE_WEIGHT = 0.1
_FAST = 0.25
_REST = 0.5
_REST_MAX_S = 5.0


@dataclass(frozen=True, slots=True)
class LimitSettings:
    """What the user told: calls at once, requests and tokens a minute (None: learn them).

    A pause that a provider asks for beyond `max_pause_s` is not waited out: calls fail as rate-limited.
    """

    concurrency: int = 16
    rpm: float | None = None
    tpm: float | None = None
    max_pause_s: float = 120.0


class Permit:
    """One call's right to be sent, and what has to be known when it comes back."""

    __slots__ = ("charge", "epoch", "requests_then", "sent_at", "tokens_then", "weight", "window_epoch")

    def __init__(self, sent_at: float, weight: float) -> None:
        self.sent_at = sent_at
        self.weight = weight
        self.epoch = 0
        self.window_epoch = 0
        self.requests_then = 0.0
        self.tokens_then = 0.0
        self.charge: list[float] | None = None


def estimate_tokens(request: ChatRequest) -> float:
    """Return a rough size of call and answer: a token for every four characters, and a usual verdict.

    Typed questions count with their words; they are answered with no text that counts.
    """
    given = sum(len(message.content) for message in request.messages)
    if not request.questions:
        return given / 4.0 + _ANSWER_TOKENS
    asked = sum(
        len(question.instructions) + sum(len(word) for option in question.options for word in option)
        for question in request.questions
    )
    return (given + asked) / 4.0


class Throttle:
    """Decides when the next call may leave, and learns from every outcome. Times are the loop's seconds."""

    def __init__(
        self,
        settings: LimitSettings,
        estimate: Callable[[ChatRequest], float] = estimate_tokens,
        seed: int = 0,
    ) -> None:
        rate = math.inf if settings.rpm is None else settings.rpm / 60.0
        self._paused_until = -math.inf
        self._max_pause_s = settings.max_pause_s
        self._estimate = estimate
        self._scale = 1.0
        self._jitter = random.Random(seed)  # noqa: S311 - spreads retries, guards nothing
        self._window = ConcurrencyWindow(settings.concurrency)
        self._learner = RateLearner(rate / (1 + MARGIN))
        self._pace = Pace()
        self._guard = None if settings.rpm is None else SendGuard(rate)
        self._meter = None if settings.tpm is None else TokenMeter(settings.tpm)
        self._requests_left: Allowance | None = None
        self._tokens_left: Allowance | None = None
        self._in_flight = 0
        self._quickest_s = math.inf
        self._strikes = 0
        self._peak = 0

    @property
    def slots(self) -> int:
        """How many calls may be in flight."""
        return int(self._window.size)

    def weigh(self, request: ChatRequest) -> float:
        """Return the tokens that a call is expected to cost; 0 while nobody counts them."""
        if self._meter is None and self._tokens_left is None:
            return 0.0
        return self._estimate(request) * self._scale

    def ready_at(self, now: float, weight: float) -> float:
        """Return the earliest moment for a call of `weight` tokens; a moment not after `now` means now."""
        at = max(self._paused_until, self._pace.ready_at())
        if self._guard is not None:
            at = max(at, self._guard.ready_at())
        if self._meter is not None:
            at = max(at, self._meter.ready_at(now, weight))
        if self._requests_left is not None:
            at = max(at, self._requests_left.ready_at(now, 1.0))
        if self._tokens_left is not None:
            at = max(at, self._tokens_left.ready_at(now, weight))
        return at

    def grant(self, now: float, weight: float, in_flight: int) -> Permit:
        """Book one send that leaves now as one of `in_flight`."""
        if self._learner.closing:
            self._learner.resume(now)
            self._pace.restart(now)
        self._in_flight = in_flight
        self._pace.rate = self._rate(now)
        self._pace.spend(now)
        permit = Permit(now, weight)
        permit.epoch = self._learner.sent(now)
        permit.window_epoch = self._window.epoch
        if self._guard is not None:
            self._guard.spend(now, connects=in_flight > self._peak)
            self._peak = max(self._peak, in_flight)
        if self._meter is not None:
            permit.charge = self._meter.spend(now, weight)
        if self._requests_left is not None:
            self._requests_left.spend(now, 1.0)
            permit.requests_then = self._requests_left.spent
        if self._tokens_left is not None:
            self._tokens_left.spend(now, weight)
            permit.tokens_then = self._tokens_left.spent
        return permit

    def answered(self, permit: Permit, reply: ChatReply, in_flight: int, now: float) -> None:
        """A call brought an answer while `in_flight` were out, itself included."""
        self._quickest_s = min(self._quickest_s, now - permit.sent_at)
        self._window.succeeded(in_flight, now)
        if permit.sent_at >= self._paused_until:
            self._strikes = 0
        if permit.charge is not None or self._tokens_left is not None:
            self._settle(permit, reply, now)
        if reply.rates is not None:
            self._observe(permit, reply.rates, now)

    def failed(self, permit: Permit, error: CallError, in_flight: int, now: float) -> float:
        """A call failed while `in_flight` were out; rejections and overloads change what is sent next.

        Returns for how many seconds its slot should stay empty: an overloaded provider refuses at once, and a
        slot that is filled again at once would be refused many times over.
        """
        if isinstance(error, RateLimitedError):
            self._limited(permit, error, in_flight, now)
        elif isinstance(error, TransientError) and error.status in _OVERLOADED:
            return self._overloaded(permit, error, in_flight, now)
        elif isinstance(error, ConnectionFaultError | DeadlineError) and self._window.strained(in_flight):
            self._window.shrink(START, steep=False)
        return 0.0

    def closed_for(self, now: float) -> float | None:
        """Return the seconds of a pause too long to wait out, else None."""
        left_s = self._paused_until - now
        return left_s if left_s > self._max_pause_s else None

    def _rate(self, now: float) -> float:
        """Return calls a second at this moment; infinite where nothing holds them back."""
        rate = self._learner.rate(now)
        if rate == math.inf and self._window.slow_start:
            if self._quickest_s == math.inf:
                return _FIRST_PACE
            return _PACE_GAIN * max(self._in_flight, START) / max(self._quickest_s, _QUICK_S)
        return rate

    def _limited(self, permit: Permit, error: RateLimitedError, in_flight: int, now: float) -> None:
        self._learner.refused(permit.epoch)
        if permit.charge is not None and self._meter is not None:
            self._meter.settle(now, permit.charge, 0.0)
        if error.retry_after is not None:
            self._told_to_wait(permit, error.retry_after, now)
        else:
            self._turned_away(permit, in_flight, now)

    def _overloaded(self, permit: Permit, error: TransientError, in_flight: int, now: float) -> float:
        """A refusal that comes much faster than any answer is about how many are at work; others are failures."""
        often = self._window.strained(in_flight)
        if error.retry_after is not None:
            self._pause(now + error.retry_after, error.retry_after)
        elif often:
            self._window.shrink(1, steep=now - permit.sent_at < _FAST * self._quickest_s)
        rest_s = _REST * self._quickest_s if self._quickest_s < math.inf else _UNHINTED_PAUSE_S
        return min(_REST_MAX_S, rest_s * self._jitter.uniform(0.5, 1.5))

    def _told_to_wait(self, permit: Permit, retry_after_s: float, now: float) -> None:
        self._window.slow_start = False
        self._learner.end(permit.epoch, now, retry_after_s)
        self._pause(now + retry_after_s, retry_after_s)

    def _turned_away(self, permit: Permit, in_flight: int, now: float) -> None:
        """No word on when to come back: too many at once, unless as many went through before."""
        rate_like = self._window.fitted(in_flight)
        pause_s = self._crowded(permit, in_flight, now)
        if rate_like and pause_s > 0:
            self._learner.end(permit.epoch, now, pause_s)

    def _crowded(self, permit: Permit, in_flight: int, now: float) -> float:
        """Too many at once: fewer from now on, after a short pause, whose seconds are returned (0: known already)."""
        if not self._window.rejected(in_flight, permit.window_epoch, now):
            return 0.0
        pause_s = min(_UNHINTED_PAUSE_MAX_S, _UNHINTED_PAUSE_S * 2.0 ** min(self._strikes, 20))
        pause_s *= self._jitter.uniform(0.5, 1.5)
        self._strikes += 1
        self._paused_until = max(self._paused_until, now + pause_s)
        return pause_s

    def _pause(self, until: float, asked_s: float) -> None:
        """A provider rounds, and the clock is read at two ends: come back a little later than asked."""
        self._paused_until = max(self._paused_until, until + max(0.01, 0.01 * asked_s))

    def _settle(self, permit: Permit, reply: ChatReply, now: float) -> None:
        used = (reply.usage.input_tokens or 0) + (reply.usage.output_tokens or 0)
        if not used:
            return
        if permit.weight > 0:
            self._scale += _SCALE_WEIGHT * (used / permit.weight - 1.0) * self._scale
        if permit.charge is not None and self._meter is not None:
            self._meter.settle(now, permit.charge, float(used))

    def _observe(self, permit: Permit, rates: RateHeaders, now: float) -> None:
        if rates.requests.remaining is not None:
            if self._requests_left is None:
                self._requests_left = Allowance()
            self._requests_left.observe(rates.requests, now, permit.requests_then, self._max_pause_s)
        if rates.tokens.remaining is not None:
            if self._tokens_left is None:
                self._tokens_left = Allowance()
            self._tokens_left.observe(rates.tokens, now, permit.tokens_then, self._max_pause_s)
