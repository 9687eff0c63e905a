"""Whole runs of pairs: orders, consistency, mirroring, joined files, and how they resume."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentanvil.aggregate import Pairwise
from agentanvil.errors import UsageError
from agentanvil.runner.grade import GradeResult
from tests.fakes.pairs import always_first, by_length, exchanged, judged, pair_rows, pair_rubric, slots
from tests.fakes.runs import Collected, Runs, read_journal, read_table
from tests.fakes.server import FakeServer, error
from tests.fakes.verdicts import graded


def runs_of(folder: Path, server: FakeServer, *rows: dict[str, Any]) -> Runs:
    folder.mkdir(exist_ok=True)
    runs = Runs(folder, server, *rows)
    runs.rubric = pair_rubric(folder)
    return runs


def pairwise(result: GradeResult) -> Pairwise:
    found = result.summary.pairwise
    assert found is not None
    return found


def tally(found: Pairwise) -> tuple[int, int, int]:
    return found.result.wins, found.result.ties, found.result.losses


def test_a_fair_judge_is_consistent_in_both_orders(tmp_path: Path) -> None:
    with FakeServer(judged(by_length)) as server:
        runs = runs_of(tmp_path, server, *pair_rows(6))
        result = runs.grade(order="both")
        assert len(server.requests) == 12
    items = read_table(runs.out, "items.csv")
    assert [item["winner"] for item in items] == ["b", "a", "a", "b", "a", "a"]
    assert {item["consistency"] for item in items} == {"consistent"}
    assert [(item["accuracy"], item["coverage"]) for item in items[:2]] == [("-2", "-1"), ("2", "1")]
    assert items[1]["overall"] == "1.5"
    found = pairwise(result)
    assert tally(found) == (4, 0, 2)
    assert found.result.rate.value == pytest.approx(4 / 6)
    assert found.position.rate.value == 0.5
    assert found.agreement.consistent == 6
    scores = read_table(runs.out, "scores.csv")
    assert {(row["order"], row["slot"], row["score"]) for row in scores if row["id"] == "pair-1"} == {
        ("ab", "A", "2"),
        ("ab", "A", "1"),
        ("ba", "B", "2"),
        ("ba", "B", "1"),
    }


def test_a_judge_that_goes_by_the_place_is_found_out(tmp_path: Path) -> None:
    with FakeServer(judged(always_first)) as server:
        runs = runs_of(tmp_path, server, *pair_rows(12))
        result = runs.grade(order="both")
    found = pairwise(result)
    assert tally(found) == (0, 12, 0)
    assert found.agreement.inconsistent == 12
    assert found.position.rate.value == 1.0
    assert found.position.test.p_value == pytest.approx(2 * 0.5**12)
    assert {item["winner"] for item in read_table(runs.out, "items.csv")} == {"tie"}
    assert any("first" in note for note in result.summary.notes)


@pytest.mark.parametrize("decide", [by_length, always_first])
@pytest.mark.parametrize("order", ["random", "both"])
def test_exchanging_the_two_files_mirrors_every_figure(tmp_path: Path, decide: Any, order: str) -> None:
    rows = pair_rows(9)
    with FakeServer(judged(decide)) as server:
        ours = runs_of(tmp_path / "one", server, *rows)
        theirs = runs_of(tmp_path / "two", server, *map(exchanged, rows))
        first, second = pairwise(ours.grade(order=order)), pairwise(theirs.grade(order=order))
        bodies = [request.body for request in server.requests]
    assert len(set(bodies)) == len(bodies) // 2  # the same prompts, whichever is called response_a
    assert tally(first) == tally(second)[::-1]
    assert first.result.rate.value == pytest.approx(1 - second.result.rate.value, abs=1e-12)
    assert first.result.interval.low == pytest.approx(1 - second.result.interval.high, abs=1e-12)
    assert first.position == second.position
    assert first.agreement == second.agreement
    mirrored = {"a": "b", "b": "a", "tie": "tie"}
    for mine, yours in zip(read_table(ours.out, "items.csv"), read_table(theirs.out, "items.csv"), strict=True):
        assert yours["winner"] == mirrored[mine["winner"]]
        assert float(yours["overall"]) == -float(mine["overall"])


def test_a_random_order_asks_once_and_fixed_always_shows_a_first(tmp_path: Path) -> None:
    with FakeServer(judged(by_length)) as server:
        runs = runs_of(tmp_path, server, *pair_rows(8))
        runs.grade()
        assert len(server.requests) == 8
        assert {line["order"] for line in read_journal(runs.out)} == {"ab", "ba"}
        runs.grade(order="fixed", out=tmp_path / "fixed")
        shown = {slots(request)[0] for request in server.requests[8:]}
    assert shown == {row["response_a"] for row in pair_rows(8)}


def test_a_run_in_both_orders_resumes_the_order_that_is_missing(tmp_path: Path) -> None:
    answer = judged(by_length)
    with FakeServer(lambda request: error(400, "no") if request.index == 2 else answer(request)) as server:
        runs = runs_of(tmp_path, server, *pair_rows(3))
        first = runs.grade(order="both", concurrency=1)
        assert (int(first.exit), len(server.requests)) == (3, 6)
        states = [item["state"] for item in read_table(runs.out, "items.csv")]
        assert states.count("judge_error") == 1
        again = runs.grade(order="both", concurrency=1)
        assert (int(again.exit), len(server.requests)) == (0, 7)
    assert sum(tally(pairwise(again))) == 3


def test_another_order_is_another_run(tmp_path: Path) -> None:
    with FakeServer(judged(by_length)) as server:
        runs = runs_of(tmp_path, server, *pair_rows(2))
        runs.grade(order="both")
        with pytest.raises(Exception, match="order was both, is now random"):
            runs.grade()


def test_two_files_are_joined_and_compared(tmp_path: Path) -> None:
    other = tmp_path / "new.jsonl"
    rows = [{"id": f"r{n}", "request": f"q{n}", "response": "short"} for n in range(4)]
    other.write_text(
        "".join(json.dumps({**row, "response": "much longer than it"}) + "\n" for row in reversed(rows)),
        encoding="utf-8",
    )
    with FakeServer(judged(by_length)) as server:
        runs = runs_of(tmp_path, server, *rows)
        result = runs.grade(vs=(str(other),))
    assert tally(pairwise(result)) == (0, 0, 4)
    assert [item["id"] for item in read_table(runs.out, "items.csv")] == ["r0", "r1", "r2", "r3"]
    assert runs.manifest()["data"]["vs"] == [str(other)]


def test_flags_of_pairs_are_refused_in_other_modes(tmp_path: Path) -> None:
    with FakeServer(graded) as server:
        runs = Runs(tmp_path, server)
        for flags in ({"order": "both"}, {"vs": ("x.jsonl",)}):
            with pytest.raises(UsageError, match="--mode pairwise"):
                runs.grade(**flags)
        assert not server.requests
    assert not runs.out.exists()


def test_what_the_judge_said_itself_is_told_where_the_deltas_say_otherwise(tmp_path: Path) -> None:
    def torn(a: str, b: str) -> dict[str, tuple[str, int]]:
        return {"accuracy": ("A", 1), "coverage": ("B", 2)}

    with FakeServer(judged(torn)) as server:
        runs = runs_of(tmp_path, server, *pair_rows(1))
        result = runs.grade(order="fixed")
    (item,) = read_table(runs.out, "items.csv")
    assert (item["winner"], item["stated_winner"], item["overall"]) == ("b", "a", "-0.5")
    assert (pairwise(result).stated.compared, pairwise(result).stated.disagreements) == (1, 1)


def test_expected_needs_probabilities_and_says_so(tmp_path: Path) -> None:
    with FakeServer(judged(by_length)) as server:
        runs = runs_of(tmp_path, server, *pair_rows(2))
        listener = Collected()
        result = runs.grade(listener, reading="expected")
    assert int(result.exit) == 3
    assert tally(pairwise(result)) == (0, 0, 0)
    assert tally(pairwise(runs.grade())) == (1, 0, 1)
    assert len(server.requests) == 2


def test_what_the_configuration_says_of_pairs_is_no_matter_of_other_modes(tmp_path: Path) -> None:
    defaults = {"order": "both", "defaults": frozenset({"order"})}
    with FakeServer(graded) as server:
        runs = Runs(tmp_path, server)
        result = runs.grade(mode="gate", **defaults)
        assert (int(result.exit), len(server.requests)) == (0, 3)
        with pytest.raises(UsageError, match="--order"):
            runs.grade(mode="gate", out=tmp_path / "flag", order="both")


def test_standard_input_is_not_what_is_compared_with(tmp_path: Path) -> None:
    with FakeServer(graded) as server:
        with pytest.raises(UsageError, match="--vs takes files"):
            runs_of(tmp_path, server).grade(vs=("-",), stdin=b"{}")
        assert not server.requests
