"""A preference out of the cache is the one that was read when the call was made."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from agentanvil.client import ChatReply, TokenLogprob
from agentanvil.client.cache_store import CacheStore
from agentanvil.client.cached import CachedClient
from agentanvil.client.scripted import ScriptedClient
from agentanvil.dataset import Contender
from agentanvil.judge import CallSettings, build_request, judge
from agentanvil.verdict import Outcome, Scored
from tests.fakes.prompts import pair, prompted, scale_rubric

TEXT = json.dumps({"one": {"winner": "A"}, "two": {"winner": "tie"}, "winner": "A"})
TOKENS = tuple(
    TokenLogprob(at, said, -0.25, ((said, -0.25), ("A", -2.0), ("B", -3.0 - at / 100))) for at, said in enumerate(TEXT)
)


def test_a_cache_keeps_the_tokens_of_the_verdicts_and_no_others(tmp_path: Path) -> None:
    rubric = scale_rubric(0, 1, "one", "two", mode="pairwise")
    task, prompt = prompted(rubric, pair(response="Paris", rival=Contender("Lyon")), order="ba")

    async def graded(client: CachedClient) -> Outcome:
        try:
            return await judge(task, prompt, client, CallSettings())
        finally:
            await client.close()

    async def kept(client: CachedClient) -> ChatReply:
        try:
            return await client.complete(build_request(task, prompt, CallSettings()))
        finally:
            await client.close()

    def cached(script: ChatReply | str) -> CachedClient:
        return CachedClient(ScriptedClient(script), CacheStore(tmp_path / "replies.sqlite", pytest.fail))

    first = asyncio.run(graded(cached(ChatReply(TEXT, tokens=TOKENS))))
    again = asyncio.run(graded(cached("never asked")))
    assert again.cells == first.cells
    assert all(isinstance(cell, Scored) and cell.preference is not None for cell in first.cells.values())
    reply = asyncio.run(kept(cached("never asked")))
    assert [token.at for token in reply.tokens] == [TEXT.index('A"}'), TEXT.index('tie"')]
