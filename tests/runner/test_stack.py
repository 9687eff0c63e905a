from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from platformdirs import user_cache_path

from agentanvil.client import ChatRequest, Message
from agentanvil.client.prices import PriceTable
from agentanvil.client.spec import parse_judge
from agentanvil.errors import AnvilError, ConfigError, JudgeSetupError
from agentanvil.runner.job import Surroundings
from agentanvil.runner.settings import JudgeSettings
from agentanvil.runner.stack import cache_path, open_stack, open_store, price_table
from tests.fakes.runs import Collected, recording
from tests.fakes.server import FakeServer, chat, unused_port

PRICES = PriceTable.read({"m": {"input": 1.0, "output": 1.0}})
REQUEST = ChatRequest((Message("user", "How many?"),), task_id="a/joint/0")


def ask(settings: JudgeSettings, environ: dict[str, str] | None = None, listener: Collected | None = None) -> Any:
    """Open the judge, ask once, and return its reply and what was learnt."""

    async def main() -> Any:
        spec = parse_judge(settings.judge or "")
        async with open_stack(spec, settings, Surroundings(environ or {}), listener or Collected()) as stack:
            reply = await stack.client.complete(REQUEST)
            await stack.client.confirm(REQUEST, reply)
            assert stack.in_flight() == 0
            return reply, stack.facts()

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("chosen", "environ", "expected"),
    [
        ("here.sqlite", {"ANVIL_CACHE": "there.sqlite"}, Path("here.sqlite")),
        (None, {"ANVIL_CACHE": "there.sqlite"}, Path("there.sqlite")),
        (None, {"ANVIL_CACHE": ""}, user_cache_path("agentanvil") / "replies.sqlite"),
        (None, {}, user_cache_path("agentanvil") / "replies.sqlite"),
    ],
)
def test_the_cache_is_where_it_was_put(chosen: str | None, environ: dict[str, str], expected: Path) -> None:
    assert cache_path(chosen, environ) == expected


def test_off_is_no_cache(tmp_path: Path) -> None:
    assert open_store(JudgeSettings(cache="off"), {"ANVIL_CACHE": str(tmp_path / "c")}, Collected()) is None
    assert list(tmp_path.iterdir()) == []


def test_a_reply_passes_through_the_stack_and_back_out_of_the_cache(tmp_path: Path) -> None:
    with FakeServer(chat("4")) as server:
        settings = JudgeSettings(f"compat:m@{server.url}", cache=str(tmp_path / "cache"), prices=PRICES)
        first, facts = ask(settings)
        second, later = ask(settings)
    assert len(server.requests) == 1
    assert (first.text, first.cached, second.text, second.cached) == ("4", False, "4", True)
    assert first.cost == second.cost == pytest.approx(120 / 1_000_000)
    assert (facts.totals.calls, later.totals.calls) == (1, 0)


@pytest.mark.parametrize("name", ["COMPAT_API_KEY", "MY_KEY"])
def test_a_key_goes_into_a_header(name: str) -> None:
    with FakeServer(chat("4")) as server:
        chosen = None if name == "COMPAT_API_KEY" else name
        ask(JudgeSettings(f"compat:m@{server.url}", cache="off", api_key_env=chosen), {name: "canary-1"})
        ask(JudgeSettings(f"compat:m@{server.url}", cache="off"))
    keyed, plain = server.requests
    assert keyed.headers["authorization"] == "Bearer canary-1"
    assert "authorization" not in plain.headers
    assert "canary" not in keyed.path


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        pytest.param({}, JudgeSetupError, id="unreachable"),
        pytest.param({"api_key_env": "NONE"}, JudgeSetupError, id="no-key"),
        pytest.param({"max_cost": 1.0}, ConfigError, id="no-price"),
    ],
)
def test_a_judge_that_cannot_be_used_leaves_no_cache_open(
    tmp_path: Path, changes: dict[str, Any], kind: type[AnvilError]
) -> None:
    cache = tmp_path / "cache"
    judge = f"compat:m@http://127.0.0.1:{unused_port()}/v1"
    with pytest.raises(kind):
        ask(JudgeSettings(judge, cache=str(cache), **changes))
    assert not cache.exists()
    assert not [thread for thread in threading.enumerate() if thread.name == "anvil-cache"]


def test_a_cache_that_cannot_be_used_costs_hits_and_one_notice(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.write_text("not a database, by far long enough to be looked at\n" * 50, encoding="utf-8")
    listener = Collected()
    with FakeServer(chat("4")) as server:
        settings = JudgeSettings(f"compat:m@{server.url}", cache=str(cache))
        ask(settings, listener=listener)
        ask(settings, listener=listener)
    assert len(server.requests) == 2
    assert len(listener.notices) == 2  # one for each of the two runs
    assert str(cache) in listener.notices[0]


def test_recorded_replies_are_asked_without_anything_else(tmp_path: Path) -> None:
    reply, facts = ask(JudgeSettings(recording(tmp_path, {"task": "a/joint/0", "reply": "4"})))
    assert (reply.text, reply.attempts, reply.cost, facts.totals) == ("4", 0, 0.0, None)
    with pytest.raises(JudgeSetupError, match="cannot be read"):
        ask(JudgeSettings(f"recorded:{tmp_path / 'none.jsonl'}"))


def test_what_runs_here_costs_nothing() -> None:
    assert price_table(parse_judge("local"), JudgeSettings(prices=PRICES)).find("anything") is not None
    compat = parse_judge("compat:m@http://127.0.0.1:1/v1")
    assert price_table(compat, JudgeSettings(prices=PRICES)).find("m") == PRICES.find("m")
    assert price_table(compat, JudgeSettings()).find("m") is None
