from __future__ import annotations

import orjson
import pytest

from agentanvil.client.base import ChatReply, Usage
from agentanvil.client.cache_entry import decode_reply, encode_reply


@pytest.mark.parametrize("cost", [None, 0.0, 0.0025])
def test_a_hit_tells_what_its_verdict_cost_when_it_was_made(cost: float | None) -> None:
    kept = encode_reply(ChatReply('{"score": 4}', usage=Usage(100, 20), cost=cost))
    assert kept is not None
    hit = decode_reply(kept)
    assert hit is not None
    assert (hit.cost, hit.cached, hit.attempts, hit.usage) == (cost, True, 0, Usage(100, 20))


@pytest.mark.parametrize("cost", ["0.1", -0.1, True, [0.1], 1])
def test_an_entry_whose_cost_is_no_price_is_a_miss(cost: object) -> None:
    kept = encode_reply(ChatReply("{}", cost=0.5))
    assert kept is not None
    assert decode_reply(orjson.dumps(orjson.loads(kept) | {"cost": cost})) is None
