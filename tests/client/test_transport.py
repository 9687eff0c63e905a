from __future__ import annotations

import asyncio
import gc
import gzip
import time
from collections.abc import Awaitable, Callable

import pytest

from agentanvil.client.adapter import WireReply
from agentanvil.client.transport import HttpTransport
from agentanvil.errors import (
    CallError,
    ConnectionFaultError,
    DeadlineError,
    EndpointError,
    JudgeSetupError,
    MalformedBodyError,
    RejectedError,
)
from tests.fakes.server import Answer, FakeServer, Recorded, chat, redirect, unused_port

HEADERS = {"Content-Type": "application/json", "Authorization": "Bearer CANARY-8"}


def sent(
    url: str, use: Callable[[HttpTransport], Awaitable[WireReply]] | None = None, timeout_s: float = 5.0
) -> WireReply:
    """Send one request in a loop of its own (or do what `use` says) and close the transport."""

    async def run() -> WireReply:
        transport = HttpTransport(url, HEADERS, timeout_s=timeout_s, max_body_bytes=100_000)
        try:
            return await (use(transport) if use else transport.send(b'{"a":1}'))
        finally:
            await transport.close()

    return asyncio.run(run())


def test_a_request_goes_out_whole_and_the_answer_comes_back_whole() -> None:
    with FakeServer(chat("ü" * 9_000, headers={"X-Request-Id": "req_1"})) as server:
        reply = sent(f"{server.url}/chat/completions")
        request = server.requests[0]
    assert (request.method, request.path, request.body) == ("POST", "/v1/chat/completions", b'{"a":1}')
    assert request.headers["authorization"] == "Bearer CANARY-8"
    assert request.headers["host"] == server.origin.removeprefix("http://")
    assert request.headers["content-length"] == "7"
    assert (reply.status, reply.headers["x-request-id"]) == (200, "req_1")
    assert len(reply.body) > 50_000


def test_a_chunked_answer_is_joined() -> None:
    with FakeServer(Answer(body=b"abc", chunked=True)) as server:
        assert sent(server.url).body == b"abc"


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(status: int) -> None:
    with FakeServer() as elsewhere, FakeServer(redirect(f"{elsewhere.origin}/steal", status)) as server:
        reply = sent(server.url)
        assert reply.status == status
        assert elsewhere.connections == 0


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        pytest.param(Answer(reset=True), "connection", id="reset"),
        pytest.param(Answer(body=b"x" * 5000, cut_at=13), "middle of its answer", id="cut"),
        pytest.param(Answer(body=b"x" * 5000, cut_at=13, reset=True), "", id="reset-in-the-body"),
        pytest.param(Answer(body=b"x" * 5000, cut_at=13, chunked=True), "middle of its answer", id="cut-chunks"),
        pytest.param(Answer(headers={"Bad Header\x00": "x"}), "", id="broken-header"),
        pytest.param(Answer(headers={"X-Long": "x" * 100_000}), "", id="endless-header"),
    ],
)
def test_a_broken_connection_may_pass_on_retry(answer: Answer, says: str) -> None:
    with FakeServer(answer) as server, pytest.raises(ConnectionFaultError) as caught:
        sent(server.url)
    assert says in str(caught.value)
    assert "CANARY" not in str(caught.value)


def test_nobody_there() -> None:
    with pytest.raises(ConnectionFaultError, match=r"cannot connect to 127\.0\.0\.1"):
        sent(f"http://127.0.0.1:{unused_port()}/v1")


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(Answer(hang=True), id="never-answers"),
        pytest.param(Answer(body=b"x" * 50, hang=True, headers_first=True), id="O-C09-headers-then-nothing"),
        pytest.param(Answer(body=b"x" * 5000, trickle_s=0.05), id="O-C10-trickle"),
    ],
)
def test_the_deadline_covers_the_whole_attempt(answer: Answer) -> None:
    with FakeServer(answer) as server:
        started = time.monotonic()
        with pytest.raises(DeadlineError, match=r"0\.3 s"):
            sent(server.url, timeout_s=0.3)
        assert time.monotonic() - started < 5.0


def test_no_call_waits_for_a_free_connection() -> None:
    """O-C06: fifty calls at once against a server that takes its time."""

    async def fifty(transport: HttpTransport) -> WireReply:
        replies = await asyncio.gather(*(transport.send(b"{}") for _ in range(50)))
        return replies[-1]

    with FakeServer(chat("x", delay_s=0.2)) as server:
        assert sent(server.url, fifty, timeout_s=3.0).status == 200
        assert server.peak_in_flight == 50


def test_cancelled_calls_leave_no_slot_behind() -> None:
    """O-C07: half of sixty calls time out or are cancelled; afterwards the transport works as before."""

    def slow_first(request: Recorded) -> Answer:
        return Answer(hang=True) if request.body == b"slow" else chat("x")

    async def scene(transport: HttpTransport) -> WireReply:
        slow = [asyncio.create_task(transport.send(b"slow")) for _ in range(30)]
        await asyncio.sleep(0.1)
        for task in slow[:15]:
            task.cancel()
        await asyncio.gather(*(transport.send(b"quick") for _ in range(30)))
        ended = await asyncio.gather(*slow, return_exceptions=True)
        assert sum(isinstance(end, asyncio.CancelledError) for end in ended) == 15
        assert sum(isinstance(end, DeadlineError) for end in ended) == 15
        replies = await asyncio.gather(*(transport.send(b"quick") for _ in range(10)))
        return replies[-1]

    with FakeServer(slow_first) as server:
        assert sent(server.url, scene, timeout_s=2.0).status == 200


def test_connections_are_used_again() -> None:
    async def three(transport: HttpTransport) -> WireReply:
        for _ in range(2):
            await transport.send(b"{}")
        return await transport.send(b"{}")

    with FakeServer(chat("x")) as server:
        sent(server.url, three)
        assert server.connections == 1


def test_two_runs_in_one_process_leave_nothing_open() -> None:
    """O-C08: warnings are errors in this suite, so an unclosed session or transport fails the test."""
    with FakeServer(chat("x")) as server:
        for _ in range(2):
            assert sent(server.url).status == 200
        gc.collect()
    asyncio.run(HttpTransport("http://127.0.0.1:1/v1", {}, timeout_s=1).close())


def test_a_body_without_end_is_not_kept() -> None:
    with FakeServer(Answer(body=b"x" * 200_000)) as server, pytest.raises(RejectedError, match="larger than"):
        sent(server.url)


def test_a_body_that_is_compressed_unasked_is_read_and_still_bounded() -> None:
    packed = {"Content-Encoding": "gzip"}
    with FakeServer(Answer(body=gzip.compress(b"abc"), headers=packed)) as server:
        assert sent(server.url).body == b"abc"
        assert server.requests[0].headers["accept-encoding"] == "identity"
    bomb = Answer(body=gzip.compress(bytes(10_000_000)), headers=packed)
    with FakeServer(bomb) as server, pytest.raises(RejectedError, match="larger than"):
        sent(server.url)
    with FakeServer(Answer(body=b"not gzip", headers=packed)) as server, pytest.raises(MalformedBodyError):
        sent(server.url)


def test_a_proxy_is_asked_in_the_judges_place() -> None:
    async def run(proxy: str) -> WireReply:
        transport = HttpTransport("http://judge.invalid/v1/chat/completions", HEADERS, timeout_s=5, proxy=proxy)
        try:
            return await transport.send(b"{}")
        finally:
            await transport.close()

    with FakeServer(chat("x")) as server:
        assert asyncio.run(run(server.origin.replace("//", "//u:CANARY-4@"))).status == 200
        request = server.requests[0]
    assert request.path == "http://judge.invalid/v1/chat/completions"
    assert request.headers["proxy-authorization"].startswith("Basic ")
    with pytest.raises(CallError) as caught:
        asyncio.run(run(f"http://u:CANARY-4@127.0.0.1:{unused_port()}"))
    assert "CANARY" not in str(caught.value)


@pytest.mark.parametrize(("status", "kind"), [(407, EndpointError), (502, ConnectionFaultError)])
def test_a_proxy_that_opens_no_tunnel(status: int, kind: type[CallError]) -> None:
    async def run(proxy: str) -> WireReply:
        transport = HttpTransport("https://judge.invalid/v1", HEADERS, timeout_s=5, proxy=proxy)
        try:
            return await transport.send(b"{}")
        finally:
            await transport.close()

    with FakeServer(Answer(status=status, close=True)) as server:
        with pytest.raises(kind, match="the proxy") as caught:
            asyncio.run(run(server.origin.replace("//", "//u:CANARY-4@")))
        request = server.requests[0]
    assert (request.method, request.path) == ("CONNECT", "judge.invalid:443")
    assert request.headers["proxy-authorization"].startswith("Basic ")
    assert "authorization" not in request.headers
    assert "CANARY" not in str(caught.value)


def test_an_address_that_is_none_is_a_setup_error() -> None:
    with pytest.raises(JudgeSetupError):
        HttpTransport("http://[::1", {}, timeout_s=1)
