from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentanvil.client.base import ChatReply, ChatRequest, Message, ReplySchema, Sampling, Usage
from agentanvil.client.cache_store import CacheStore
from agentanvil.client.cached import CachedClient
from agentanvil.client.chat_completions import ChatCompletions
from agentanvil.client.limited import LimitedClient, LimitSettings
from agentanvil.client.provider import Endpoint, ProviderClient
from agentanvil.client.scripted import Line, ScriptedClient
from agentanvil.client.transport import HttpTransport
from agentanvil.errors import RateLimitedError
from tests.fakes.server import FakeServer, chat, error

REQUEST = ChatRequest(messages=(Message("system", "Judge."), Message("user", "Row 1.")))
WHOLE = ChatReply(
    '{"score": 4, "reason": "weil „ja“ 🙂"}',
    usage=Usage(900, 40, 800, 10, 5),
    model="m-2026",
    request_id="req-1",
    rung="json_schema",
    attempts=3,
    latency_s=1.5,
    cost=0.02,
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "replies.sqlite"


def no_trouble(message: str) -> None:
    pytest.fail(message)


def ask(
    file: Path,
    script: Line | Sequence[Line],
    requests: Sequence[ChatRequest],
    confirm: Callable[[ChatReply], bool] = lambda _: True,
) -> tuple[list[ChatReply], int]:
    """One run: ask for each request in turn, confirm, close. Returns the replies and the calls made."""

    async def main() -> list[ChatReply]:
        client = CachedClient(inner, CacheStore(file, no_trouble))
        replies = []
        for request in requests:
            reply = await client.complete(request)
            if confirm(reply):
                await client.confirm(request, reply)
            replies.append(reply)
        await client.close()
        return replies

    inner = ScriptedClient(script)
    return asyncio.run(main()), len(inner.requests)


def test_a_second_run_is_answered_without_a_call_and_flagged(file: Path) -> None:
    """O-D06, O-D08, O-G05: the same text, tokens and price, flagged: no new spend, no new evidence."""
    ask(file, WHOLE, [REQUEST])
    (reply,), calls = ask(file, "other", [REQUEST])
    assert calls == 0
    assert reply == replace(WHOLE, cached=True, attempts=0, latency_s=0.0)


def test_a_confirmed_reply_is_found_at_once_in_the_same_run(file: Path) -> None:
    replies, calls = ask(file, WHOLE, [REQUEST] * 50)
    assert calls == 1
    assert [reply.cached for reply in replies] == [False] + [True] * 49


OTHER_REQUESTS = {
    "O-D03 max_tokens": replace(REQUEST, sampling=Sampling(max_tokens=4000)),
    "O-D03 seed": replace(REQUEST, sampling=Sampling(seed=7)),
    "O-D04 temperature": replace(REQUEST, sampling=Sampling(temperature=1.0)),
    "O-D04 no temperature": replace(REQUEST, sampling=Sampling(temperature=None)),
    "O-D05 repeat": replace(REQUEST, repeat=1),
    "O-D07 criterion": replace(REQUEST, messages=(Message("system", "Judge rudely."), REQUEST.messages[1])),
    "O-D10 other instructions": replace(REQUEST, messages=(Message("system", "b"), REQUEST.messages[1])),
    "role": replace(REQUEST, messages=(Message("user", "Judge."), Message("user", "Row 1."))),
    "parts run together": replace(REQUEST, messages=(Message("system", "Judge.Row 1."), Message("user", ""))),
    "re-ask": replace(REQUEST, messages=(*REQUEST.messages, Message("assistant", "no"), Message("user", "JSON!"))),
    "schema": replace(REQUEST, schema=ReplySchema("verdict", {"type": "object"})),
    "prompt version": replace(REQUEST, prompt_version="2"),
    "repeat and version do not run together": replace(REQUEST, repeat=0, prompt_version="01"),
}


@pytest.mark.parametrize("other", [pytest.param(request, id=name) for name, request in OTHER_REQUESTS.items()])
def test_what_differs_in_anything_that_matters_is_another_call(file: Path, other: ChatRequest) -> None:
    _, calls = ask(file, ["first", "second"], [REQUEST, other])
    assert calls == 2
    (again, _), calls = ask(file, "third", [other, REQUEST])
    assert (again.text, calls) == ("second", 0)


def test_what_is_not_sent_does_not_make_another_call(file: Path) -> None:
    _, calls = ask(file, "{}", [REQUEST, replace(REQUEST, task_id="another row")])
    assert calls == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(("/v1", "m"), ("/v1", "n"), id="model"),
        pytest.param(("/v1", "m"), ("/v2", "m"), id="address"),
    ],
)
def test_another_endpoint_or_model_is_another_call(file: Path, one: tuple[str, str], other: tuple[str, str]) -> None:
    """O-D03: with real bodies over HTTP."""

    def run(server: FakeServer, path: str, model: str) -> None:
        async def main() -> None:
            adapter = ChatCompletions()
            base_url = server.origin + path
            transport = HttpTransport(base_url + adapter.path("m"), adapter.headers(None), timeout_s=10)
            client = CachedClient(
                ProviderClient(adapter, transport, Endpoint(base_url, model)), CacheStore(file, no_trouble)
            )
            await client.confirm(REQUEST, await client.complete(REQUEST))
            await client.close()

        asyncio.run(main())

    with FakeServer(chat("{}")) as server:
        for path, model in (one, other, one, other):
            run(server, path, model)
        assert len(server.requests) == 2


def test_repeats_are_separate_measurements_and_a_rerun_gives_the_same_ones(file: Path) -> None:
    """O-D05: variance survives the cache."""
    repeats = [replace(REQUEST, repeat=repeat) for repeat in range(3)]
    first, calls = ask(file, ["3", "4", "5"], repeats)
    assert [reply.text for reply in first] == ["3", "4", "5"]
    assert calls == 3
    second, calls = ask(file, "9", repeats)
    assert [reply.text for reply in second] == ["3", "4", "5"]
    assert calls == 0


def test_an_error_in_a_200_is_not_kept(file: Path) -> None:
    """O-D01: neither as an error nor as a reply."""
    with FakeServer([error(200, "slow down"), chat('{"score":4}')]) as server:

        async def attempt() -> str:
            adapter = ChatCompletions()
            transport = HttpTransport(server.url + adapter.path("m"), adapter.headers(None), timeout_s=10)
            provider = ProviderClient(adapter, transport, Endpoint(server.url, "m"))
            client = CachedClient(provider, CacheStore(file, no_trouble))
            try:
                reply = await client.complete(REQUEST)
                await client.confirm(REQUEST, reply)
                return reply.text
            except RateLimitedError:
                return "failed"
            finally:
                await client.close()

        texts = [asyncio.run(attempt()) for _ in range(3)]
        assert texts == ["failed", '{"score":4}', '{"score":4}']
        assert len(server.requests) == 2


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(ChatReply("not json"), id="O-D02 unparseable"),
        pytest.param(ChatReply("{}", stop="length"), id="cut short"),
        pytest.param(ChatReply("", stop="refusal", refusal="no"), id="refusal"),
        pytest.param(ChatReply("", stop="blocked"), id="blocked"),
        pytest.param(ChatReply("", reasoning=True), id="only reasoning"),
    ],
)
def test_what_the_judge_does_not_confirm_is_asked_again(file: Path, reply: ChatReply) -> None:
    _, calls = ask(file, reply, [REQUEST, REQUEST], confirm=lambda _: False)
    assert calls == 2
    (good,), calls = ask(file, WHOLE, [REQUEST])
    assert (good.text, calls) == (WHOLE.text, 1)


@pytest.mark.parametrize(
    "reply",
    [
        ChatReply("{}", stop="length"),
        ChatReply("{}", stop="refusal"),
        ChatReply("{}", stop="blocked"),
        ChatReply("{}", stop="other"),
        ChatReply("{}", refusal="I would rather not"),
        ChatReply("lone \ud800 surrogate"),
    ],
)
def test_an_incomplete_reply_is_not_kept_even_if_confirmed(file: Path, reply: ChatReply) -> None:
    ask(file, reply, [REQUEST])
    _, calls = ask(file, WHOLE, [REQUEST])
    assert calls == 1


def test_a_hit_passes_no_limit(file: Path) -> None:
    ask(file, WHOLE, [REQUEST])

    async def main() -> int:
        inner = ScriptedClient("{}")
        limited = LimitedClient(inner, LimitSettings(concurrency=1, rpm=0.001))
        client = CachedClient(limited, CacheStore(file, no_trouble))
        replies = await asyncio.gather(*(client.complete(REQUEST) for _ in range(100)))
        await client.close()
        assert all(reply.cached for reply in replies)
        return len(inner.requests)

    assert asyncio.run(main()) == 0


def test_two_equal_calls_at_once_are_both_made_and_kept_once(file: Path) -> None:
    async def main() -> int:
        inner = ScriptedClient(WHOLE)
        client = CachedClient(inner, CacheStore(file, no_trouble))

        async def one() -> None:
            reply = await client.complete(REQUEST)
            await client.confirm(REQUEST, reply)

        await asyncio.gather(one(), one())
        await client.close()
        return len(inner.requests)

    assert asyncio.run(main()) <= 2
    assert ask(file, "x", [REQUEST])[1] == 0


def test_many_calls_that_are_never_confirmed_are_forgotten(file: Path) -> None:
    async def main() -> None:
        client = CachedClient(ScriptedClient(WHOLE), CacheStore(file, no_trouble))
        requests = [replace(REQUEST, repeat=repeat) for repeat in range(5000)]
        replies = [await client.complete(request) for request in requests]
        for request, reply in zip(requests, replies, strict=True):
            await client.confirm(request, reply)
        await client.close()

    asyncio.run(main())
    assert ask(file, "x", [replace(REQUEST, repeat=0), replace(REQUEST, repeat=4999)])[1] == 0


def test_what_is_asked_of_the_inner_client_is_passed_on(file: Path) -> None:
    async def main() -> None:
        inner = ScriptedClient("{}")
        client = CachedClient(inner, CacheStore(file, no_trouble))
        for _ in range(2):
            await client.confirm(REQUEST, await client.complete(REQUEST))
        await client.close()
        assert client.fingerprint(REQUEST) == inner.fingerprint(REQUEST)
        assert inner.confirmed == [REQUEST, REQUEST]
        assert inner.closed

    asyncio.run(main())


def together(file: Path, jobs: Sequence[tuple[int, int]]) -> list[list[Any]]:
    """Run processes at once, each with so many rows from an offset; return what they printed, in words."""
    command = [sys.executable, "-m", "tests.fakes.cache_process", str(file)]
    running = [
        subprocess.Popen([*command, str(rows), str(offset)], stdout=subprocess.PIPE, text=True) for rows, offset in jobs
    ]
    outputs = []
    for process in running:
        with process as finished:
            output, _ = finished.communicate(timeout=60)
            assert finished.returncode == 0
            outputs.append(output.split(maxsplit=2))
    return outputs


@pytest.mark.parametrize("offsets", [pytest.param((0, 0), id="O-D09"), pytest.param((0, 50, 100), id="overlapping")])
def test_processes_share_a_cache_without_trouble(file: Path, offsets: tuple[int, ...]) -> None:
    for hits, calls, trouble in together(file, [(100, offset) for offset in offsets]):
        assert int(hits) + int(calls) == 100
        assert trouble.strip() == "[]"
    ((hits, calls, trouble),) = together(file, [(max(offsets) + 100, 0)])
    assert (int(hits), int(calls), trouble.strip()) == (max(offsets) + 100, 0, "[]")
