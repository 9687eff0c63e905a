"""Files that go out and come in as streams, by the rules of a judge call."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest

from agentanvil.client.batch.http import Address, BatchHttp, Clockwork, FileBody
from agentanvil.client.secret import Secret
from agentanvil.errors import (
    ConnectionFaultError,
    DeadlineError,
    EndpointError,
    MalformedBodyError,
    RateLimitedError,
    ServerFaultError,
)
from tests.fakes.server import Answer, FakeServer, Recorded, Script, answer_json, error, redirect, unused_port

KEY = "sk-canary-0123456789"
T = TypeVar("T")


def using(
    script: Script, work: Callable[[BatchHttp], Awaitable[T]], *, attempts: int = 3, idle_s: float = 5.0
) -> tuple[T, FakeServer, list[float]]:
    """Do some work at a server; return what came of it, the server, and the waits that were asked for."""
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    async def run(url: str) -> T:
        address = Address(url, {"Authorization": f"Bearer {KEY}", "Content-Type": "text/plain"}, (Secret(KEY),))
        http = BatchHttp(address, idle_s=idle_s, attempts=attempts, time_=Clockwork(lambda: 0.0, sleep))
        try:
            return await work(http)
        finally:
            await http.close()

    with FakeServer(script) as server:
        return asyncio.run(run(server.url)), server, pauses


async def all_lines(http: BatchHttp) -> list[bytes]:
    return [line async for line in http.lines("/x")]


def test_a_file_is_sent_with_its_length_and_what_stands_around_it(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"x" * 1_000_000)
    body = FileBody(file, b"before", b"after")
    answer, server, _ = using(answer_json({"id": "f"}), lambda http: http.post("/files", body, "text/x"))
    (request,) = server.requests
    assert (answer, request.method, request.path) == ({"id": "f"}, "POST", "/v1/files")
    assert request.body == b"before" + b"x" * 1_000_000 + b"after"
    assert request.headers["content-length"] == "1000011"
    assert request.headers["content-type"] == "text/x"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert "cookie" not in request.headers


def test_a_file_that_may_be_repeated_is_sent_whole_again(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"rows")
    script = [error(503), Answer(reset=True), answer_json({})]
    _, server, pauses = using(script, lambda http: http.post("/files", FileBody(file), repeatable=True))
    assert [request.body for request in server.requests] == [b"rows"] * 3
    assert len(pauses) == 2


@pytest.mark.parametrize(
    "fault", [error(500), Answer(reset=True), Answer(body=b"<html>"), Answer(body=b"{}", cut_at=1)]
)
def test_what_may_have_been_heard_is_not_said_twice(fault: Answer) -> None:
    said: list[Recorded] = []

    def answer(request: Recorded) -> Answer:
        said.append(request)
        return fault

    with pytest.raises((ServerFaultError, ConnectionFaultError, MalformedBodyError)):
        using(answer, lambda http: http.post("/batches", b"{}"))
    assert len(said) == 1


def test_what_was_turned_away_is_said_again_when_the_provider_says() -> None:
    script = [error(429, headers={"Retry-After": "7"}), answer_json({"id": "b"})]
    answer, _, pauses = using(script, lambda http: http.post("/batches", b"{}"))
    assert answer == {"id": "b"}
    assert 7 <= pauses[0] < 8


def test_a_wait_of_hours_is_not_waited_for() -> None:
    with pytest.raises(RateLimitedError):
        using(error(429, headers={"Retry-After": "7200"}), lambda http: http.get("/batches"))


def test_lines_end_at_line_feeds_alone_and_the_last_needs_none() -> None:
    body = "a\u2028b\rc\n\n{}\nlast".encode()
    lines, _, _ = using(Answer(body=body, chunked=True), all_lines)
    assert lines == ["a\u2028b\rc".encode(), b"", b"{}", b"last"]


def test_a_download_that_breaks_begins_again() -> None:
    body = b"".join(b"%d\n" % n for n in range(20_000))
    lines, server, pauses = using([Answer(body=body, cut_at=50_000), Answer(body=body)], all_lines)
    assert lines[-20_000:] == body.splitlines()
    assert (len(server.requests), len(pauses)) == (2, 1)


def test_a_download_that_always_breaks_is_given_up() -> None:
    with pytest.raises(ConnectionFaultError):
        using(Answer(body=b"x" * 100, cut_at=5), all_lines)


def test_a_download_that_stands_still_is_given_up() -> None:
    with pytest.raises(DeadlineError, match="no sign of life"):
        using(Answer(hang=True, headers_first=True, chunked=True), all_lines, attempts=1, idle_s=0.2)


@pytest.mark.parametrize("work", [all_lines, lambda http: http.get("/x"), lambda http: http.post("/x", b"{}")])
def test_a_redirect_is_refused_and_no_key_is_told(work: Callable[[BatchHttp], Awaitable[object]]) -> None:
    with pytest.raises(EndpointError, match="redirects are refused") as refused:
        using(redirect(f"https://elsewhere.example/{KEY}"), work)
    assert KEY not in str(refused.value)


def test_an_error_that_quotes_the_key_does_not_show_it() -> None:
    with pytest.raises(EndpointError) as refused:
        using(error(401, f"bad key {KEY}"), lambda http: http.get("/x"))
    assert KEY not in str(refused.value)
    assert "[redacted]" in str(refused.value)


def test_an_answer_that_is_no_object_is_malformed() -> None:
    with pytest.raises(MalformedBodyError):
        using(answer_json([1]), lambda http: http.get("/x"), attempts=1)


def test_nobody_there_is_said_as_it_is() -> None:
    async def ask() -> None:
        http = BatchHttp(Address(f"http://127.0.0.1:{unused_port()}/v1", {}), idle_s=5, attempts=1, time_=Clockwork())
        try:
            await http.get("/x")
        finally:
            await http.close()

    with pytest.raises(ConnectionFaultError, match="cannot connect to 127"):
        asyncio.run(ask())
