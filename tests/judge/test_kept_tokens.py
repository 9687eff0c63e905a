"""A reading out of the cache is the one that was made when the call was."""

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
SCORES = json.dumps({"one": {"reason": "10", "score": 10}, "two": {"reason": "1", "score": 7}})
RUBRICS = {
    TEXT: scale_rubric(0, 1, "one", "two", mode="pairwise"),
    SCORES: scale_rubric(1, 10, "one", "two"),
}


def tokens_of(text: str) -> tuple[TokenLogprob, ...]:
    others = (("A", -2.0), ("B", -3.0), ("7", -2.5), ("8", -3.5))
    return tuple(TokenLogprob(at, said, -0.25, ((said, -0.25 - at / 1000), *others)) for at, said in enumerate(text))


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (TEXT, (TEXT.index('A"}'), TEXT.index('tie"'))),
        (SCORES, (SCORES.index("10}"), SCORES.index("10}") + 1, SCORES.index("7}"))),
    ],
    ids=["pairwise", "absolute"],
)
def test_a_cache_keeps_the_tokens_of_the_verdicts_and_no_others(
    tmp_path: Path, text: str, kept: tuple[int, ...]
) -> None:
    paired = RUBRICS[text].mode == "pairwise"
    item = pair(response="Paris", rival=Contender("Lyon")) if paired else None
    task, prompt = prompted(RUBRICS[text], item, order="ba" if paired else None)

    async def graded(client: CachedClient) -> Outcome:
        try:
            return await judge(task, prompt, client, CallSettings())
        finally:
            await client.close()

    async def found(client: CachedClient) -> ChatReply:
        try:
            return await client.complete(build_request(task, prompt, CallSettings()))
        finally:
            await client.close()

    def cached(script: ChatReply | str) -> CachedClient:
        return CachedClient(ScriptedClient(script), CacheStore(tmp_path / "replies.sqlite", pytest.fail))

    first = asyncio.run(graded(cached(ChatReply(text, tokens=tokens_of(text)))))
    again = asyncio.run(graded(cached("never asked")))
    assert again.cells == first.cells
    assert all(isinstance(cell, Scored) and cell.entropy is not None for cell in first.cells.values())
    reply = asyncio.run(found(cached("never asked")))
    assert tuple(token.at for token in reply.tokens) == kept
