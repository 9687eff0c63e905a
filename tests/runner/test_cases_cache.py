"""The reply cache under whole runs: what is asked again, and what a hit is and is not."""

from __future__ import annotations

import json
import pickle
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentanvil.client.prices import PriceTable
from agentanvil.runner.exits import Exit
from agentanvil.runner.grade import GradeResult
from tests.fakes.runs import Runs, asked_about, read_journal, read_table, rows, verdict
from tests.fakes.server import Answer, FakeServer, Recorded, answer_json, chat
from tests.fakes.verdicts import graded

PRICES = PriceTable.read({"m": {"input": 10.0, "output": 50.0}})


class Cached(Runs):
    """Runs that share a cache, each in a folder of its own."""

    made = 0

    def fresh(self, **changes: Any) -> GradeResult:
        self.made += 1
        self.out = self.folder / f"run-{self.made}"
        return self.grade(cache=str(self.folder / "cache"), **changes)


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(graded) as server:
        yield server


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(answer_json({"error": "slow down"}), id="O-D01-error-in-a-200"),
        pytest.param(answer_json({"error": {"code": 429, "message": "busy"}}), id="O-D01-coded-error-in-a-200"),
        pytest.param(chat('{"accuracy": {"score"', "length"), id="O-D01-cut"),
        pytest.param(chat("", "content_filter"), id="O-D01-blocked"),
        pytest.param(chat(""), id="O-D01-empty"),
        pytest.param(chat("not json"), id="O-D02-unreadable"),
        pytest.param(chat(json.dumps(verdict(9))), id="O-D02-off-the-scale"),
    ],
)
def test_only_a_verdict_is_kept(tmp_path: Path, bad: Answer) -> None:
    with FakeServer(bad) as server:
        runs = Cached(tmp_path, server, *rows(1))
        assert runs.fresh().exit is Exit.MISSING
        server._script = graded
        asked = len(server.requests)
        assert runs.fresh().exit is Exit.OK
        assert len(server.requests) == asked + 1
        runs.fresh()
        assert len(server.requests) == asked + 1


def test_o_d02_a_re_ask_reaches_the_judge(tmp_path: Path) -> None:
    with FakeServer([chat("not json"), chat(json.dumps(verdict(2)))]) as server:
        runs = Cached(tmp_path, server, *rows(1))
        runs.fresh()
    assert len(server.requests) == 2
    cell = read_table(runs.out, "scores.csv")[0]
    assert (cell["score"], cell["flags"]) == ("2", "reasked")


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param([{"max_tokens": 16}, {"max_tokens": 4000}, {"max_tokens": 4000, "seed": 7}], id="O-D03"),
        pytest.param([{}, {"temperature": 1.0}, {"temperature": 0.5}], id="O-D04"),
        pytest.param([{}, {"judge": "compat:m2@"}, {"judge": "compat:m3@"}], id="O-C18-another-judge"),
    ],
)
def test_other_parameters_are_other_calls(tmp_path: Path, server: FakeServer, changes: list[dict[str, Any]]) -> None:
    runs = Cached(tmp_path, server, *rows(1))
    for _ in range(2):
        for change in changes:
            judge = {"judge": change["judge"] + server.url} if "judge" in change else {}
            runs.fresh(**{**change, **judge})
    assert len(server.requests) == len(changes)


def test_o_d05_d06_repeats_are_calls_of_their_own_and_replays_are_not_more_of_them(tmp_path: Path) -> None:
    def answer(request: Recorded) -> Answer:
        return graded(request, 3 + request.json["seed"])

    with FakeServer(answer) as server:
        runs = Cached(tmp_path, server, *rows(2))
        runs.fresh(repeats=3)
        assert len(server.requests) == 6
        before = runs.reports()
        again = runs.fresh(repeats=3)
    assert len(server.requests) == 6
    assert runs.reports() == before
    scores = [cell["score"] for cell in read_table(runs.out, "scores.csv") if cell["dimension"] == "accuracy"]
    assert scores == ["3", "4", "5"] * 2
    assert [item["accuracy_n"] for item in read_table(runs.out, "items.csv")] == ["3", "3"]
    assert (again.tally.calls, again.tally.cached) == (0, 6)
    assert all(line["exchanges"][0]["cached"] for line in read_journal(runs.out))


def test_o_d07_another_criterion_is_another_question(tmp_path: Path, server: FakeServer) -> None:
    runs = Cached(tmp_path, server)
    runs.fresh()
    text = runs.rubric.read_text(encoding="utf-8")
    runs.rubric.write_text(text.replace("Is each claim true?", "Is each claim rude?"), encoding="utf-8")
    runs.fresh()
    assert len(server.requests) == 6
    runs.rubric.write_text(f"{text}gate: {{overall: 4}}\noverall: {{rule: weighted, weights: {{accuracy: 2}}}}\n")
    runs.fresh()
    assert len(server.requests) == 6  # thresholds and weights apply after the cache


@pytest.mark.parametrize("prices", [PRICES, PriceTable({})], ids=["priced", "unpriced"])
def test_o_d08_g05_reports_do_not_tell_whether_replies_were_kept_and_spending_does(
    tmp_path: Path, server: FakeServer, prices: PriceTable
) -> None:
    runs = Cached(tmp_path, server)
    first = runs.fresh(prices=prices)
    before = runs.reports()
    second = runs.fresh(prices=prices)
    assert runs.reports() == before
    usage = second.summary.usage
    assert (usage.input_tokens, usage.output_tokens) == (300, 60)
    paid = 3 * (100 * 10 + 20 * 50) / 1e6
    assert usage.cost == first.tally.cost == (pytest.approx(paid) if prices is PRICES else None)
    assert (second.tally.calls, second.tally.cached, second.tally.saved_tokens) == (0, 3, 360)
    assert second.tally.cost is None
    session = runs.manifest()["sessions"][0]
    assert (session["calls"], session["cache_hits"], session["input_tokens"], session["cost_usd"]) == (0, 3, 0, None)


@pytest.mark.parametrize("seed", [0, 1])
def test_a_half_warm_cache_cannot_show_either(tmp_path: Path, server: FakeServer, seed: int) -> None:
    runs = Cached(tmp_path, server)
    runs.fresh(limit=2, repeats=2, prices=PRICES, seed=seed)
    runs.fresh(repeats=2, prices=PRICES, seed=seed)
    mixed = runs.reports()
    assert len(server.requests) == 6
    runs.grade(repeats=2, prices=PRICES, seed=seed, out=tmp_path / "cold")
    assert runs.reports(tmp_path / "cold") == mixed


class Bomb:
    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.mark,))


@pytest.mark.parametrize("kind", ["pickle", "text", "null", "other-json"])
def test_o_h07_a_foreign_entry_is_a_miss_and_never_run(tmp_path: Path, server: FakeServer, kind: str) -> None:
    runs = Cached(tmp_path, server)
    runs.fresh()
    mark = tmp_path / "executed"
    entries = {"pickle": pickle.dumps(Bomb(mark)), "text": b"score: 5", "null": b"null", "other-json": b'{"text":5}'}
    with sqlite3.connect(tmp_path / "cache") as database:
        database.execute("UPDATE replies SET value = ?", (entries[kind],))
    database.close()
    assert runs.fresh().exit is Exit.OK
    assert len(server.requests) == 6
    assert not mark.exists()


def test_a_hit_belongs_to_its_own_row(tmp_path: Path) -> None:
    with FakeServer(lambda request: graded(request, 1 + int(asked_about(request)))) as server:
        runs = Cached(tmp_path, server)
        for _ in range(2):
            runs.fresh()
            assert [item["accuracy"] for item in read_table(runs.out, "items.csv")] == ["1", "2", "3"]
