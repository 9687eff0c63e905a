from __future__ import annotations

from pathlib import Path

import pytest

from agentanvil.client.prices import PriceTable
from agentanvil.errors import DatasetError
from agentanvil.plan import Plan
from agentanvil.runner.estimate import Estimate, as_dict, estimate
from agentanvil.runner.job import Surroundings, prepare
from agentanvil.runner.meter import Amount
from agentanvil.runner.pace import ASSUMED_S, Latency, duration
from agentanvil.runner.panel_settings import PanelSettings
from agentanvil.runner.settings import JudgeSettings
from tests.fakes.runs import Runs, rows
from tests.fakes.server import FakeServer, chat, unused_port
from tests.fakes.verdicts import CODE_RUBRIC, graded

NOWHERE = f"compat:m@http://127.0.0.1:{unused_port()}/v1"


@pytest.mark.parametrize(("calls", "per_row"), [("joint", 1), ("split", 2)])
def test_it_counts_calls_and_asks_nobody(tmp_path: Path, calls: str, per_row: int) -> None:
    runs = Runs(tmp_path, NOWHERE, calls=calls)
    before = sorted(tmp_path.iterdir())
    found = estimate(runs.settings(repeats=3), Surroundings({}))
    assert (found.rows, found.calls, found.done_before) == (3, 9 * per_row, 0)
    assert found.output_tokens == 9 * 2 * 60
    assert 100 * found.calls < found.input_tokens < 2000 * found.calls
    assert found.cost_usd is None
    assert sorted(tmp_path.iterdir()) == before


def test_it_knows_what_is_done_already(tmp_path: Path) -> None:
    with FakeServer(graded) as server:
        runs = Runs(tmp_path, server)
        runs.grade(limit=2)
        found = estimate(runs.settings(repeats=2), Surroundings({}))
    assert (found.calls, found.done_before) == (4, 2)


def test_it_prices_what_it_estimates(tmp_path: Path) -> None:
    prices = PriceTable.read({"m": {"input": 2.0, "output": 10.0}})
    found = estimate(Runs(tmp_path, NOWHERE).settings(prices=prices), Surroundings({}))
    assert found.cost_usd == pytest.approx((found.input_tokens * 2 + found.output_tokens * 10) / 1_000_000)
    assert as_dict(found)["cost_usd"] == found.cost_usd


def test_many_short_calls_are_not_priced_as_one_long_one(tmp_path: Path) -> None:
    """A model that doubles its price above 272,000 tokens in one request: no request here is near that."""
    texts = [{"id": f"item-{n}", "request": "What?", "response": "word " * 20_000} for n in range(20)]
    found = estimate(Runs(tmp_path, "openai:gpt-6-luna", *texts).settings(), Surroundings({}))
    assert found.input_tokens > 300_000
    assert found.cost_usd == pytest.approx((found.input_tokens * 0.1 + found.output_tokens * 0.5) / 1_000_000)


def test_longer_rows_cost_more(tmp_path: Path) -> None:
    short = estimate(Runs(tmp_path, NOWHERE).settings(), Surroundings({}))
    long = [row | {"response": row["response"] * 100} for row in rows(3)]
    assert estimate(Runs(tmp_path, NOWHERE, *long).settings(), Surroundings({})).input_tokens > short.input_tokens


def test_checks_cost_nothing(tmp_path: Path) -> None:
    runs = Runs(tmp_path, NOWHERE)
    runs.rubric.write_text(CODE_RUBRIC, encoding="utf-8")
    found = estimate(runs.settings(judge=None), Surroundings({}))
    assert (found.calls, found.input_tokens, found.cost_usd) == (0, 0, 0.0)


def test_it_refuses_what_a_run_refuses(tmp_path: Path) -> None:
    runs = Runs(tmp_path, NOWHERE, rows(1)[0], rows(1)[0])
    with pytest.raises(DatasetError, match="item-0"):
        estimate(runs.settings(), Surroundings({}))


def dry(runs: Runs, **changes: object) -> Estimate:
    return estimate(runs.settings(**changes), Surroundings({}))


def plan_of(runs: Runs, **changes: object) -> Plan:
    with prepare(runs.settings(**changes), Surroundings({})) as job:
        return job.plan


def test_what_the_cache_answers_is_told_apart_and_costs_nothing(tmp_path: Path) -> None:
    prices = PriceTable.read({"m": {"input": 2.0, "output": 10.0}})
    cache = str(tmp_path / "cache")
    with FakeServer(graded) as server:
        runs = Runs(tmp_path, server, *rows(5))
        runs.grade(cache=cache, limit=3)
        asked = len(server.requests)
        found = dry(runs, cache=cache, out=tmp_path / "other", prices=prices)
        assert len(server.requests) == asked
        result = runs.grade(cache=cache, out=tmp_path / "other")
    assert (found.calls, found.cached, found.done_before) == (2, 3, 0)
    assert (result.tally.calls, result.tally.cached) == (found.calls, found.cached)
    assert found.cost_usd == pytest.approx((found.input_tokens * 2 + found.output_tokens * 10) / 1_000_000)
    other = dry(runs, cache=cache, out=tmp_path / "third", temperature=0.5)
    assert (other.calls, other.cached) == (5, 0)


def test_looking_into_a_cache_makes_none(tmp_path: Path) -> None:
    dry(Runs(tmp_path, NOWHERE), cache=str(tmp_path / "cache"))
    assert not (tmp_path / "cache").exists()


def test_a_jury_is_asked_about_every_row_by_all_at_their_own_prices(tmp_path: Path) -> None:
    prices = PriceTable.read({"m": {"input": 2.0, "output": 10.0}, "n": {"input": 20.0, "output": 100.0}})
    panel = PanelSettings(jury=(NOWHERE.replace(":m@", ":n@"),))
    found = dry(Runs(tmp_path, NOWHERE), prices=prices, panel=panel)
    first, second = found.judges
    assert (first.least.calls, second.least.calls, found.calls) == (3, 3, 6)
    assert (first.role, second.role) == ("first", "jury")
    assert first.least.cost_usd is not None
    assert second.least.cost_usd == pytest.approx(10 * first.least.cost_usd)
    assert found.cost_usd == pytest.approx(11 * first.least.cost_usd)
    assert found.most == Amount(found.calls, 0, found.input_tokens, found.output_tokens, found.cost_usd)
    unknown = dry(Runs(tmp_path, NOWHERE), prices=PriceTable.read({"m": {"input": 2.0, "output": 10.0}}), panel=panel)
    assert (unknown.cost_usd, unknown.judges[0].least.cost_usd) == (None, first.least.cost_usd)


def test_a_cross_judge_is_asked_about_its_drawn_rows(tmp_path: Path) -> None:
    runs = Runs(tmp_path, NOWHERE, *rows(40))
    panel = PanelSettings(cross_judge=NOWHERE.replace(":m@", ":n@"), cross_sample=0.25)
    plan = plan_of(runs, panel=panel)
    drawn = sum(plan.is_drawn(1, row["id"]) for row in rows(40))
    found = dry(runs, panel=panel)
    assert 0 < drawn < 40
    assert [each.least.calls for each in found.judges] == [40, drawn]
    assert found.most.calls == found.calls


def test_an_escalation_is_told_as_a_range_until_the_first_judge_is_done(tmp_path: Path) -> None:
    with FakeServer(graded) as server:
        runs = Runs(tmp_path, server, *rows(30))
        panel = PanelSettings(escalate_to=f"compat:n@{server.url}", escalate_when="near_gate", escalate_share=0.2)
        with runs.rubric.open("a", encoding="utf-8") as file:
            file.write("gate: {overall: 2}\n")  # every score is 4: nothing is near it
        plan = plan_of(runs, panel=panel)
        drawn = sum(plan.is_drawn(1, row["id"]) for row in rows(30))
        found = dry(runs, panel=panel)
        assert 0 < drawn < 30
        assert (found.calls, found.most.calls) == (30 + drawn, 60)
        assert (found.judges[1].least.calls, found.judges[1].most.calls) == (drawn, 30)
        runs.grade(panel=panel, max_calls=30)
        after = dry(runs, panel=panel)
        assert (after.calls, after.most.calls) == (drawn, drawn)
        done = runs.grade(panel=panel)
    assert done.tally.calls == drawn


def test_the_time_is_that_of_the_tightest_limit() -> None:
    """100 calls of 2 s, 16 at once: 7 rounds, 14 s; at 60 a minute 100 s; 30,000 tokens at 12,000 a minute 150 s."""
    amount = Amount(100, 0, 25_000, 5_000, None)
    latency = Latency(2.0, "earlier calls")
    assert duration(amount, JudgeSettings(concurrency=16), latency) == pytest.approx(14.0)
    assert duration(amount, JudgeSettings(concurrency=16, rpm=60), latency) == pytest.approx(100.0)
    assert duration(amount, JudgeSettings(concurrency=16, rpm=60, tpm=12_000), latency) == pytest.approx(150.0)
    assert duration(amount, JudgeSettings(rpm=60), Latency(None, "unknown")) is None
    assert duration(Amount(), JudgeSettings(), Latency(None, "unknown")) == 0.0


def test_how_long_a_call_takes_is_known_from_earlier_ones_else_assumed_or_unknown(tmp_path: Path) -> None:
    hosted = dry(Runs(tmp_path, "openai:gpt-6-luna"), concurrency=2)
    assert hosted.judges[0].latency == Latency(ASSUMED_S, "assumed")
    assert hosted.seconds == pytest.approx(2 * ASSUMED_S)
    assert dry(Runs(tmp_path, NOWHERE)).seconds is None
    with FakeServer(chat("no verdict", delay_s=0.05)) as server:
        runs = Runs(tmp_path, server)
        runs.grade(limit=1)
        found = dry(runs)
    assert found.judges[0].latency.source == "earlier calls"
    assert 0.05 <= (found.judges[0].latency.seconds or 0.0) < 5.0


def test_a_hosted_judge_is_priced_by_the_list_call_by_call(tmp_path: Path) -> None:
    """150,000 tokens a row stay below the long requests of 272,000, however many rows there are."""
    long = [row | {"response": "word " * 120_000} for row in rows(3)]
    found = dry(Runs(tmp_path, "openai:gpt-6-luna", *long))
    assert found.input_tokens > 3 * 140_000
    assert found.cost_usd == pytest.approx((found.input_tokens * 0.1 + found.output_tokens * 0.5) / 1_000_000)


def test_as_data_the_least_stands_at_the_top(tmp_path: Path) -> None:
    data = as_dict(dry(Runs(tmp_path, NOWHERE)))
    assert (data["calls"], data["most"]["calls"], data["judges"][0]["calls"]) == (3, 3, 3)
    assert (data["judges"][0]["latency_s"], data["judges"][0]["latency_from"]) == (None, "unknown")


def test_an_escalation_is_told_to_cost_no_more_than_it_may(tmp_path: Path) -> None:
    prices = PriceTable.read({"m": {"input": 2.0, "output": 10.0}})
    panel = PanelSettings(escalate_to=NOWHERE.replace(":m@", ":n@"), escalate_when="near_gate", escalate_max_cost=0.001)
    dear = PriceTable.read({"m": {"input": 2.0, "output": 10.0}, "n": {"input": 500.0, "output": 500.0}})
    runs = Runs(tmp_path, NOWHERE)
    with runs.rubric.open("a", encoding="utf-8") as file:
        file.write("gate: {overall: 2}\n")
    found = dry(runs, prices=dear, panel=panel)
    first = dry(runs, prices=prices).cost_usd
    assert first is not None
    assert found.most.calls == 6
    assert found.most.cost_usd == pytest.approx(first + 0.001)
