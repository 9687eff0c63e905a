"""A second judge where the first is unsure: exactly there, once, within its budget, and blind to the first one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agentanvil.client.prices import PriceTable
from agentanvil.errors import ConfigError, UsageError
from agentanvil.plan import Plan, Seat
from agentanvil.runner.exits import Exit
from agentanvil.runner.panel_settings import PanelSettings
from agentanvil.runner.report import report
from tests.fakes.decision_servers import Told, openai_decisions, systemone
from tests.fakes.pairs import pair_rows, pair_rubric
from tests.fakes.panels import asked, deciding, judge, scoring
from tests.fakes.runs import Collected, Runs, read_journal, read_table, rows
from tests.fakes.server import Answer, FakeServer, chat, error
from tests.fakes.tokens import token
from tests.fakes.verdicts import graded

SURE: Mapping[str, Told] = {"absolute": (0.0, 0.1, 0.9), "gate": 0.95, "pairwise": (0.9, 0.05, 0.05)}
DOUBTFUL: Mapping[str, Told] = {"absolute": (0.3, 0.3, 0.4), "gate": 0.5, "pairwise": (0.4, 0.4, 0.2)}
CONTRACTS = {"openai-decisions": openai_decisions, "systemone": systemone}
COUNT = 30
UNSURE = [3, 4, 11, 29]
CALL = (100 * 10.0 + 20 * 50.0) / 1_000_000


def drawn(share: float, count: int = COUNT, name: str = "item") -> list[int]:
    plan = Plan((), 1, "cheap", others=(Seat("strong", "escalation", share),))
    return [n for n in range(count) if plan.is_drawn(1, f"{name}-{n}")]


class Bench:
    """A cheap judge that decides, a strong one that writes, and the run in which the one is escalated to the other."""

    def __init__(self, folder: Path, cheap: FakeServer, strong: FakeServer, *data: dict[str, Any]) -> None:
        self.strong = strong
        self.cheap = cheap
        self.runs = Runs(folder, f"systemone:d@{cheap.url}", *(data or rows(COUNT)))
        self.listener = Collected()

    def grade(self, share: float = 0.0, when: str | None = "entropy>0.6", **changes: Any) -> Any:
        limit = changes.pop("limit_cost", None)
        to = PanelSettings(
            escalate_to=judge(self.strong), escalate_when=when, escalate_share=share, escalate_max_cost=limit
        )
        return self.runs.grade(self.listener, panel=to, evidence="none", **changes)

    @property
    def calls(self) -> tuple[int, int]:
        return len(self.cheap.requests), len(self.strong.requests)

    def because(self) -> dict[int, str]:
        lines = [line for line in read_journal(self.runs.out) if line["judge"] == judge(self.strong)]
        return {line["row"]: line["because"] for line in lines}


def cheap(unsure: list[int] = UNSURE, mode: str = "absolute") -> FakeServer:
    return FakeServer(systemone(deciding(lambda n: n in unsure, SURE[mode], DOUBTFUL[mode])))


@pytest.mark.parametrize("contract", CONTRACTS)
@pytest.mark.parametrize("mode", SURE)
def test_exactly_the_unsure_rows_and_the_seeded_share_are_escalated(tmp_path: Path, contract: str, mode: str) -> None:
    decide = deciding(lambda n: n in UNSURE, SURE[mode], DOUBTFUL[mode])
    pairs = mode == "pairwise"
    data, name = (pair_rows(COUNT), "pair") if pairs else (rows(COUNT), "item")
    with FakeServer(CONTRACTS[contract](decide)) as first, FakeServer(graded) as strong:
        bench = Bench(tmp_path, first, strong, *data)
        bench.runs.judge = f"{contract}:d@{first.url}"
        bench.runs.rubric = pair_rubric(tmp_path) if pairs else bench.runs.rubric
        how = {"mode": mode, "environ": {"OPENAI_API_KEY": "k"}}
        result = bench.grade(0.2, None, **how | ({"order": "both"} if pairs else {}))
        orders = 2 if pairs else 1
        share = drawn(0.2, name=name)
        assert asked(first) == sorted(orders * list(range(COUNT)))
        assert asked(strong) == sorted(orders * sorted({*UNSURE, *share}))
        assert 2 <= len(share) <= 12
    assert bench.because() == {n: "unsure" if n in UNSURE else "share" for n in {*UNSURE, *share}}
    assert result.ending == "complete"
    assert [(start.escalated, start.tasks) for start in bench.listener.starts] == [
        (False, orders * COUNT),
        (True, orders * len({*UNSURE, *share})),
    ]


def test_the_second_one_decides_where_the_first_was_unsure_and_only_there(tmp_path: Path) -> None:
    with cheap() as first, FakeServer(scoring(lambda _: 2)) as strong:
        bench = Bench(tmp_path, first, strong)
        assert bench.grade(0.3).exit is Exit.OK
        found = [row["overall"] for row in read_table(bench.runs.out, "items.csv")]
        before = bench.runs.reports()
        report(bench.runs.out, Collected())
        assert bench.runs.reports() == before
    assert found == ["2" if n in UNSURE else "5" for n in range(COUNT)]
    assert set(drawn(0.3)) - set(UNSURE)


def test_the_second_one_never_sees_what_the_first_said(tmp_path: Path) -> None:
    with cheap() as first, FakeServer(graded) as strong:
        bench = Bench(tmp_path, first, strong)
        bench.grade()
        escalated = {request.body for request in strong.requests}
        bench.runs.judge = judge(strong)
        bench.runs.grade(evidence="none", out=tmp_path / "alone")
        assert escalated < {request.body for request in strong.requests[len(UNSURE) :]}


def test_a_run_that_was_cut_between_its_phases_goes_on_without_repeating_a_call(tmp_path: Path) -> None:
    with cheap() as first, FakeServer(graded) as strong:
        bench = Bench(tmp_path, first, strong)
        assert bench.grade(max_calls=COUNT).ending == "budget"
        assert bench.calls == (COUNT, 0)
        assert bench.grade(max_calls=2, concurrency=1).ending == "budget"
        assert bench.calls == (COUNT, 2)
        assert bench.grade().exit is Exit.OK
        assert bench.calls == (COUNT, 4)
        assert asked(strong) == UNSURE
        before = bench.runs.reports()
        assert bench.grade().exit is Exit.OK
        assert bench.calls == (COUNT, 4)
        assert bench.runs.reports() == before
        bench.grade(out=tmp_path / "at-once")
        assert bench.runs.reports(tmp_path / "at-once") == before


@pytest.mark.parametrize("lost", [1, 4])
def test_a_process_that_was_killed_in_the_second_phase_asks_only_for_what_it_lost(tmp_path: Path, lost: int) -> None:
    with cheap() as first, FakeServer(graded) as strong:
        bench = Bench(tmp_path, first, strong)
        bench.grade(concurrency=1)
        journal = bench.runs.out / "journal.jsonl"
        lines = journal.read_bytes().splitlines(keepends=True)
        journal.write_bytes(b"".join(lines[:-lost]) + lines[-lost][:20])
        assert bench.grade(concurrency=1).exit is Exit.OK
        assert bench.calls == (COUNT, 4 + lost)
        assert journal.read_bytes().splitlines()[:-lost] == [line.rstrip() for line in lines[:-lost]]


def test_more_rows_and_more_repeats_are_escalated_as_they_come(tmp_path: Path) -> None:
    with cheap() as first, FakeServer(graded) as strong:
        bench = Bench(tmp_path, first, strong)
        for limit, repeats, calls in ((4, 1, (4, 1)), (12, 1, (12, 3)), (12, 2, (24, 6))):
            assert bench.grade(limit=limit, repeats=repeats).exit is Exit.OK
            assert bench.calls == calls


def test_a_verdict_that_the_first_did_not_bring_comes_from_the_second(tmp_path: Path) -> None:
    with FakeServer(scoring(lambda n: error(500) if n == 1 else 4)) as first, FakeServer(graded) as strong:
        bench = Bench(tmp_path, first, strong, *rows(4))
        bench.runs.judge = f"compat:d@{first.url}"
        assert bench.grade(when="missing").exit is Exit.OK
        assert asked(strong) == [1]
        assert bench.because() == {1: "missing"}


def test_where_neither_brings_a_verdict_it_is_missing(tmp_path: Path) -> None:
    with FakeServer(scoring(lambda n: error(500) if n else 4)) as first, FakeServer(error(500)) as strong:
        bench = Bench(tmp_path, first, strong, *rows(2))
        bench.runs.judge = f"compat:d@{first.url}"
        assert bench.grade(share=1.0).exit is Exit.MISSING
    assert [row["overall"] for row in read_table(bench.runs.out, "items.csv")] == ["4", ""]


def test_a_verdict_that_comes_later_is_held_against_the_condition_anew(tmp_path: Path) -> None:
    broken = [1, 2]
    with FakeServer(scoring(lambda n: error(500) if n in broken else 5)) as first, FakeServer(graded) as strong:
        bench = Bench(tmp_path, first, strong, *rows(3))
        bench.runs.judge = f"compat:d@{first.url}"
        bench.grade(when="missing")
        broken.clear()
        bench.grade(when="missing")
        assert asked(strong) == [1, 2]
    assert [row["overall"] for row in read_table(bench.runs.out, "items.csv")] == ["5", "5", "5"]


def test_probabilities_of_written_tokens_tell_as_well_who_is_unsure(tmp_path: Path) -> None:
    def spelt(number: int) -> Answer:
        doubt = {"4": 0.3, "3": 0.3} if number == 1 else {}
        parts = ['{"evidence":[],"reason":"", "score":', "5", "}"]
        tokens = [token(part, 0.4 if part == "5" and doubt else 1.0, doubt if part == "5" else None) for part in parts]
        reply = chat("".join(parts))
        body = json.loads(reply.body)
        body["choices"][0]["logprobs"] = {"content": tokens}
        return reply.but(body=json.dumps(body).encode())

    with FakeServer(scoring(spelt)) as first, FakeServer(graded) as strong:
        bench = Bench(tmp_path, first, strong, *rows(3))
        bench.runs.judge = f"compat:d@{first.url}"
        bench.runs.rubric = bench.runs.rubric.with_name("one.yaml")
        bench.runs.rubric.write_text(
            "version: 1\nid: one\nscale: {min: 1, max: 5}\nevidence: none\ndimensions:\n  - id: accuracy\n"
            "    question: Is each claim true?\n    anchors: {5: no error, 3: exactly one error, 1: more errors}\n"
        )
        assert bench.grade().ending == "complete"
        assert asked(strong) == [1]


def test_a_condition_that_says_nothing_here_is_told(tmp_path: Path) -> None:
    with FakeServer(graded) as first, FakeServer(graded) as strong:
        bench = Bench(tmp_path, first, strong, *rows(2))
        bench.runs.judge = f"compat:d@{first.url}"
        result = bench.grade(when="entropy>0.6 or near_gate")
        assert not strong.requests
    assert any("near_gate says nothing in this run: the rubric has no `gate:`" in n for n in bench.listener.notices)
    assert any("came with its entropy" in notice for notice in bench.listener.notices)
    assert any("came with its entropy" in note for note in result.summary.notes)
    with pytest.raises(UsageError, match="can never hold here: near_gate"):
        bench.grade(when="near_gate", out=tmp_path / "other")
    with pytest.raises(UsageError, match="column 9"):
        bench.grade(when="entropy>high", out=tmp_path / "other")


def test_the_limit_of_what_escalation_may_cost_ends_it_and_not_the_run(tmp_path: Path) -> None:
    prices = PriceTable.read({"m": {"input": 10.0, "output": 50.0}, "d": {"input": 0.1, "output": 0.0}})
    with cheap(list(range(10))) as first, FakeServer(graded) as strong:
        bench = Bench(tmp_path, first, strong, *rows(10))
        how = {"prices": prices, "max_tokens": 20}
        result = bench.grade(limit_cost=2.5 * CALL, **how)
        assert (result.exit, result.ending) == (Exit.OK, "complete")
        assert bench.calls == (10, 3)
        assert any("--escalate-max-cost 0.005 reached" in notice for notice in bench.listener.notices)
        assert result.summary.panel.escalation.left_out["unsure"] == 7
        assert bench.grade(limit_cost=2.5 * CALL, **how).summary.panel.escalation.left_out["unsure"] == 7
        assert bench.calls == (10, 3)
        assert bench.grade(limit_cost=1.0, **how).exit is Exit.OK
        assert bench.calls == (10, 10)
        assert asked(strong) == list(range(10))


def test_a_run_whose_escalation_was_limited_is_complete_without_its_second_judge(tmp_path: Path) -> None:
    prices = PriceTable.read({"m": {"input": 10.0, "output": 50.0}})
    how = {"prices": prices, "max_tokens": 20, "limit_cost": 0.5 * CALL}
    with cheap([0, 1]) as first, FakeServer(graded) as strong:
        bench = Bench(tmp_path, first, strong, *rows(3))
        bench.grade(**how)
        before = bench.runs.reports()
    assert bench.grade(**how).exit is Exit.OK  # neither of them can be reached any more
    assert bench.runs.reports() == before


def test_what_escalation_costs_counts_for_the_run_as_well(tmp_path: Path) -> None:
    prices = PriceTable.read({"m": {"input": 10.0, "output": 50.0}, "d": {"input": 0.1, "output": 0.0}})
    with cheap(list(range(10))) as first, FakeServer(graded) as strong:
        bench = Bench(tmp_path, first, strong, *rows(10))
        result = bench.grade(limit_cost=1.0, max_cost=3.5 * CALL, prices=prices, max_tokens=20)
        assert (result.exit, result.ending) == (Exit.MISSING, "budget")
        assert "--max-cost" in str(result.problem)
        assert bench.calls == (10, 4)


def test_a_limit_needs_a_price(tmp_path: Path) -> None:
    with cheap() as first, FakeServer(graded) as strong:
        bench = Bench(tmp_path, first, strong)
        with pytest.raises(ConfigError, match="--escalate-max-cost needs the price of m"):
            bench.grade(limit_cost=1.0)
        assert bench.calls == (0, 0)


def test_the_condition_and_the_share_are_part_of_which_run_it_is(tmp_path: Path) -> None:
    with cheap() as first, FakeServer(graded) as strong:
        bench = Bench(tmp_path, first, strong)
        bench.grade(0.1, "entropy > .6")
        assert bench.grade(0.1, "(entropy>0.60)").exit is Exit.OK
        for share, when in ((0.2, "entropy>0.6"), (0.1, "entropy>0.5")):
            with pytest.raises(Exception, match="judge was"):
                bench.grade(share, when)
