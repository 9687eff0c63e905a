from __future__ import annotations

import asyncio

import pytest

from agentanvil.client.reach import reach
from agentanvil.errors import JudgeSetupError
from tests.fakes.server import FakeServer, unused_port


def test_a_judge_that_listens_is_reached_without_a_request() -> None:
    with FakeServer() as server:
        asyncio.run(reach(server.url))
        assert server.requests == []


def test_nobody_there_is_told_with_what_to_do() -> None:
    port = unused_port()
    with pytest.raises(JudgeSetupError, match=f"127.0.0.1:{port} cannot be reached: connection refused") as caught:
        asyncio.run(reach(f"http://127.0.0.1:{port}/v1"))
    assert caught.value.hint


def test_a_name_that_nobody_knows() -> None:
    with pytest.raises(JudgeSetupError, match="not known"):
        asyncio.run(reach("http://judge.invalid/v1"))
    with pytest.raises(JudgeSetupError, match="not known"):
        asyncio.run(reach(f"http://{'x' * 70}.example/v1"))


def test_a_plain_server_behind_https_is_told() -> None:
    with FakeServer() as server, pytest.raises(JudgeSetupError, match="cannot be reached"):
        asyncio.run(reach(server.url.replace("http:", "https:"), patience_s=0.3))


def test_the_proxy_is_what_must_be_there() -> None:
    with FakeServer() as server:
        asyncio.run(reach("https://judge.invalid/v1", proxy=server.origin))
        assert server.requests == []
    with pytest.raises(JudgeSetupError, match="proxy") as caught:
        asyncio.run(reach("https://judge.invalid/v1", proxy=f"http://u:CANARY-4@127.0.0.1:{unused_port()}"))
    assert "CANARY" not in str(caught.value)
