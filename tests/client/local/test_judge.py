from __future__ import annotations

import asyncio
import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentanvil.client.adapter import WireReply
from agentanvil.client.local import Bytes, LocalServer, LocalTransport, ServerSettings, find_server
from agentanvil.errors import AnvilError, ConnectionFaultError, EndpointError, JudgeSetupError
from tests.fakes.llama import Fake, put_llama, put_model

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the fake server is a script")
SCHEMA = {"type": "object", "properties": {"score": {"enum": [4]}}, "required": ["score"]}
BODY = json.dumps(
    {
        "messages": [{"role": "system", "content": "Grade."}, {"role": "user", "content": "this"}],
        "max_tokens": 50,
        "response_format": {"type": "json_schema", "json_schema": {"name": "verdict", "schema": SCHEMA}},
    }
).encode()


class Starts:
    """Makes transports for a fake, and keeps how often they wanted a model and a server, and what they told."""

    def __init__(self, fake: Fake, fetch: Callable[[Bytes], Path] | None = None, **settings: Any) -> None:
        self.fetched = 0
        self.served = 0
        self.told: list[tuple[int, int, threading.Thread]] = []
        self._fake = fake
        self._given = fetch
        self._settings = {"slots": 1, **settings}

    def transport(self) -> LocalTransport:
        return LocalTransport(self._fetch, self._serve, self._hear, 20.0)

    def _fetch(self, progress: Bytes) -> Path:
        self.fetched += 1
        return put_model(self._fake.folder) if self._given is None else self._given(progress)

    def _serve(self, model: Path) -> LocalServer:
        self.served += 1
        binary = find_server(self._fake.path, lambda: None)
        return LocalServer(binary, ServerSettings(model, **self._settings), self._fake.environ)

    def _hear(self, done: int, total: int) -> None:
        self.told.append((done, total, threading.current_thread()))


async def sent(transport: LocalTransport, calls: int) -> list[WireReply | BaseException]:
    """Send so many at once; errors are returned."""
    return await asyncio.gather(*(transport.send(BODY) for _ in range(calls)), return_exceptions=True)


def test_many_calls_at_once_start_one_server_and_closing_stops_it(tmp_path: Path) -> None:
    fake = put_llama(tmp_path, loading=2)
    starts = Starts(fake)

    async def main() -> None:
        transport = starts.transport()
        assert not transport.ready
        replies = await sent(transport, 20)
        assert transport.ready
        assert {reply.status for reply in replies if isinstance(reply, WireReply)} == {200}
        assert len([reply for reply in replies if isinstance(reply, WireReply)]) == 20
        await transport.close()

    asyncio.run(main())
    assert (starts.fetched, starts.served, len(fake.starts)) == (1, 1, 1)
    assert len(fake.asked) == 20
    assert fake.all_gone(0)


def test_closing_without_a_call_starts_nothing(tmp_path: Path) -> None:
    fake = put_llama(tmp_path)
    starts = Starts(fake)
    asyncio.run(starts.transport().close())
    assert (starts.fetched, fake.starts) == (0, [])


def test_a_failed_start_is_told_to_all_and_not_tried_again(tmp_path: Path) -> None:
    fake = put_llama(tmp_path, says="no", exits=7)
    starts = Starts(fake)

    async def main() -> None:
        transport = starts.transport()
        errors = [*await sent(transport, 5), *await sent(transport, 1)]
        assert {type(error) for error in errors} == {JudgeSetupError}
        assert {str(error) for error in errors} == {"llama-server did not start: it ended with 7; its last lines: no"}
        assert len({id(error) for error in errors}) == 6
        await transport.close()

    asyncio.run(main())
    assert (starts.fetched, len(fake.starts)) == (1, 1)


def test_a_model_that_cannot_be_had_is_told_with_what_to_do(tmp_path: Path) -> None:
    def fetch(progress: Bytes) -> Path:
        raise JudgeSetupError("the model could not be fetched", hint="Get it by hand.")

    starts = Starts(put_llama(tmp_path), fetch)

    async def main() -> None:
        for error in await sent(starts.transport(), 3):
            assert isinstance(error, AnvilError)
            assert error.hint == "Get it by hand."

    asyncio.run(main())
    assert (starts.fetched, starts.served) == (1, 0)


def test_progress_is_heard_on_the_event_loop(tmp_path: Path) -> None:
    def fetch(progress: Bytes) -> Path:
        assert threading.current_thread() is not threading.main_thread()
        progress(1, 2)
        progress(2, 2)
        return put_model(tmp_path)

    starts = Starts(put_llama(tmp_path), fetch)

    async def main() -> None:
        transport = starts.transport()
        await transport.send(BODY)
        await transport.close()

    asyncio.run(main())
    assert starts.told == [(1, 2, threading.main_thread()), (2, 2, threading.main_thread())]


def test_a_fetch_that_nobody_waits_for_ends(tmp_path: Path) -> None:
    ended = threading.Event()

    def fetch(progress: Bytes) -> Path:
        try:
            while True:
                progress(1, 2)
                time.sleep(0.01)
        finally:
            ended.set()

    starts = Starts(put_llama(tmp_path), fetch)

    async def main() -> None:
        transport = starts.transport()
        calls = [asyncio.create_task(transport.send(BODY)) for _ in range(3)]
        while not starts.told:
            await asyncio.sleep(0.01)
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        assert all(call.cancelled() for call in calls)
        await transport.close()

    asyncio.run(main())  # waits for the thread
    assert ended.is_set()
    assert (starts.fetched, starts.served) == (1, 0)


def test_whoever_still_waits_goes_on_when_the_first_is_cancelled(tmp_path: Path) -> None:
    fake = put_llama(tmp_path, loading=4)
    starts = Starts(fake)

    async def main() -> None:
        transport = starts.transport()
        first, second = (asyncio.create_task(transport.send(BODY)) for _ in range(2))
        while not fake.starts:
            await asyncio.sleep(0.01)
        first.cancel()
        assert (await second).status == 200
        await transport.close()

    asyncio.run(main())
    assert len(fake.starts) == 2
    assert fake.all_gone(0)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({}, "it ended with 3; its last lines: the last thing it said"),
        ({"dies": "SIGILL"}, "it used a processor instruction that this machine does not have"),
        ({"dies": "SIGKILL"}, "is there memory enough for the model?"),
    ],
)
def test_a_server_that_dies_in_mid_run_ends_it(tmp_path: Path, how: dict[str, str], words: str) -> None:
    fake = put_llama(tmp_path, dies_at=2, **how)

    async def main() -> None:
        transport = Starts(fake).transport()
        for _ in range(2):
            assert (await transport.send(BODY)).status == 200
        for _ in range(2):
            with pytest.raises(EndpointError, match="the local server is gone: ") as caught:
                await transport.send(BODY)
            assert words in caught.value.message
        await transport.close()

    asyncio.run(main())


def test_a_server_that_lives_and_hangs_up_may_be_asked_again(tmp_path: Path) -> None:
    async def main() -> None:
        transport = Starts(put_llama(tmp_path, drops_at=0)).transport()
        with pytest.raises(ConnectionFaultError):
            await transport.send(BODY)
        assert (await transport.send(BODY)).status == 200
        await transport.close()

    asyncio.run(main())
