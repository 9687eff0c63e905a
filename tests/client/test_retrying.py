from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from agentanvil.client import ChatReply, ChatRequest, Message
from agentanvil.client.retrying import RetryingClient, RetryPolicy
from agentanvil.client.scripted import Line, ScriptedClient
from agentanvil.errors import (
    AnvilError,
    BudgetReachedError,
    CallError,
    ConfigError,
    ConnectionFaultError,
    DeadlineError,
    EndpointError,
    MalformedBodyError,
    RateLimitedError,
    RejectedError,
    RequestTooLargeError,
    ServerFaultError,
)

REQUEST = ChatRequest((Message("user", "Grade."),))


class Scene:
    """A scripted judge behind the retry layer; time does not pass, the waits are kept. `luck` is every draw."""

    def __init__(self, script: Sequence[Line] | Line, policy: RetryPolicy | None = None, luck: float = 0.5) -> None:
        self.waits: list[float] = []
        self.judge = ScriptedClient(script)
        self.client = RetryingClient(self.judge, policy, sleep=self._sleep, draw=lambda: luck)

    async def _sleep(self, seconds: float) -> None:
        self.waits.append(seconds)

    def ask(self) -> ChatReply:
        return asyncio.run(self.client.complete(REQUEST))

    def fail(self) -> AnvilError:
        with pytest.raises(AnvilError) as caught:
            self.ask()
        return caught.value

    @property
    def calls(self) -> int:
        return len(self.judge.requests)


def test_what_passes_at_once_is_not_touched() -> None:
    reply = ChatReply("x")
    scene = Scene(reply)
    assert scene.ask() is reply
    assert scene.waits == []


@pytest.mark.parametrize(
    "kind", [RateLimitedError, ServerFaultError, ConnectionFaultError, DeadlineError, MalformedBodyError]
)
def test_what_may_pass_later_is_sent_again_and_counted(kind: type[CallError]) -> None:
    scene = Scene([kind("no"), kind("no"), "x"])
    assert scene.ask().attempts == 3
    assert len(scene.waits) == 2


@pytest.mark.parametrize(
    ("error", "calls"),
    [
        pytest.param(RateLimitedError("429"), 4, id="O-C04-429"),
        pytest.param(EndpointError("401"), 1, id="O-C04-401"),
        pytest.param(RequestTooLargeError("400"), 1, id="O-C04-context"),
        pytest.param(EndpointError("404"), 1, id="404"),
        pytest.param(RejectedError("blocked", code="blocked"), 1, id="blocked"),
        pytest.param(ConfigError("temperature"), 1, id="config"),
        pytest.param(BudgetReachedError("spent"), 1, id="budget"),
        pytest.param(DeadlineError("late"), 4, id="deadline"),
    ],
)
def test_the_number_of_attempts_is_one_or_the_limit(error: AnvilError, calls: int) -> None:
    scene = Scene(error, RetryPolicy(max_attempts=4))
    assert scene.fail() is error
    assert scene.calls == calls


def test_an_error_counts_all_attempts_also_those_of_the_ladder() -> None:
    def failed(attempts: int) -> CallError:
        error = ServerFaultError("no")
        error.attempts = attempts
        return error

    ended = Scene([failed(3), failed(1), failed(2)], RetryPolicy(max_attempts=3)).fail()
    assert isinstance(ended, CallError)
    assert ended.attempts == 6
    assert Scene([failed(3), ChatReply("x", attempts=2)]).ask().attempts == 5


def test_a_later_deterministic_error_ends_it() -> None:
    scene = Scene([ServerFaultError("no"), EndpointError("401")])
    assert isinstance(scene.fail(), EndpointError)
    assert scene.calls == 2


@pytest.mark.parametrize(("luck", "waits"), [(0.0, [0, 0, 0, 0]), (0.5, [0.25, 0.5, 1.0, 2.0]), (1.0, [0.5, 1, 2, 4])])
def test_waits_are_drawn_from_zero_to_a_doubling_bound(luck: float, waits: list[float]) -> None:
    scene = Scene(ServerFaultError("no"), luck=luck)
    scene.fail()
    assert scene.waits == waits


def test_the_bound_has_a_cap() -> None:
    scene = Scene(ServerFaultError("no"), RetryPolicy(max_attempts=12), luck=1.0)
    scene.fail()
    assert max(scene.waits) == 30.0


@pytest.mark.parametrize("luck", [0.0, 0.5, 1.0])
def test_the_wait_is_never_shorter_than_asked(luck: float) -> None:
    """O-C01"""
    scene = Scene([RateLimitedError("429", retry_after=90.0), "x"], luck=luck)
    scene.ask()
    assert 90.0 <= scene.waits[0] < 99.1


def test_more_than_the_longest_wait_is_not_waited_for() -> None:
    scene = Scene(RateLimitedError("429", retry_after=121.0))
    error = scene.fail()
    assert isinstance(error, RateLimitedError)
    assert (error.code, scene.calls, scene.waits) == ("rate_limited", 1, [])
    assert Scene([RateLimitedError("429", retry_after=120.0), "x"]).ask().attempts == 2


def test_being_told_to_come_back_at_once_still_backs_off() -> None:
    scene = Scene([RateLimitedError("429", retry_after=0.0)] * 3 + ["x"], luck=1.0)
    scene.ask()
    assert scene.waits == [0.5, 1.0, 2.0]


def test_a_cancelled_wait_is_cancelled() -> None:
    async def scene() -> None:
        client = RetryingClient(ScriptedClient(RateLimitedError("429", retry_after=60.0)))
        task = asyncio.create_task(client.complete(REQUEST))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(scene())


def test_the_rest_is_handed_on() -> None:
    scene = Scene("x")

    async def rest() -> None:
        await scene.client.confirm(REQUEST, ChatReply("x"))
        await scene.client.close()

    asyncio.run(rest())
    assert scene.judge.confirmed == [REQUEST]
    assert scene.judge.closed
    assert scene.client.fingerprint(REQUEST) == scene.judge.fingerprint(REQUEST)
