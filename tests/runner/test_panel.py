"""Several judges in one run: whom each row is put to, what one that fails costs, and what they spend together."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentanvil.client.prices import PriceTable
from agentanvil.errors import JudgeSetupError, RunFolderError, UsageError
from agentanvil.runner.exits import Exit
from agentanvil.runner.panel_settings import PanelSettings
from agentanvil.runner.report import report
from agentanvil.runner.run_view import plan_of
from tests.fakes.panels import asked, judge, jury, scoring
from tests.fakes.runs import Collected, Runs, read_journal, read_table, recording, rows, verdict
from tests.fakes.server import Answer, FakeServer, error, unused_port
from tests.fakes.verdicts import graded

CALL = (100 * 10.0 + 20 * 50.0) / 1_000_000
PRICES = PriceTable.read({name: {"input": 10.0, "output": 50.0} for name in ("m", "n0", "n1")})


def overalls(runs: Runs) -> list[str]:
    return [row["overall"] for row in read_table(runs.out, "items.csv")]


def test_each_judge_of_a_jury_is_asked_about_every_row_and_one_that_fails_is_outvoted(tmp_path: Path) -> None:
    broken = scoring(lambda number: error(500) if number % 2 else 1)
    with FakeServer(scoring(lambda _: 4)) as one, FakeServer(scoring(lambda _: 2)) as two, FakeServer(broken) as three:
        runs = Runs(tmp_path, one, *rows(4))
        listener = Collected()
        result = runs.grade(listener, panel=jury(two, three))
        assert [asked(server) for server in (one, two, three)] == [[0, 1, 2, 3]] * 3
    assert (result.exit, result.ending) == (Exit.OK, "complete")
    assert overalls(runs) == ["2", "3", "2", "3"]  # the median of three, or of the two that are left
    assert {start.judge for start in listener.starts} == {
        " + ".join((runs.judge, judge(two, "n0"), judge(three, "n1")))
    }
    assert [start.tasks for start in listener.starts] == [12]
    assert [(entry["name"], entry["role"]) for entry in runs.manifest()["judges"]] == [
        (runs.judge, "first"),
        (judge(two, "n0"), "jury"),
        (judge(three, "n1"), "jury"),
    ]


def test_too_few_judges_are_no_jury(tmp_path: Path) -> None:
    with FakeServer(graded) as one, FakeServer(error(500)) as two, FakeServer(error(500)) as three:
        runs = Runs(tmp_path, one, *rows(2))
        assert runs.grade(panel=jury(two, three)).exit is Exit.MISSING
        assert overalls(runs) == ["", ""]
        assert runs.grade(panel=jury(two, three, quorum=1)).exit is Exit.OK
        assert overalls(runs) == ["4", "4"]
        assert asked(one) == [0, 1]


def test_what_was_said_is_asked_once_and_reports_are_rebuilt_from_it(tmp_path: Path) -> None:
    with FakeServer(graded) as one, FakeServer(scoring(lambda n: 1 + n % 5)) as two:
        runs = Runs(tmp_path, one, *rows(5))
        runs.grade(limit=2, panel=jury(two, jury_rule="min"))
        runs.grade(panel=jury(two, jury_rule="min"), repeats=2)
        before = runs.reports()
        assert runs.grade(panel=jury(two, jury_rule="min"), repeats=2).exit is Exit.OK
        assert [len(server.requests) for server in (one, two)] == [10, 10]
    assert runs.reports() == before
    report(runs.out, Collected())
    assert runs.reports() == before
    assert overalls(runs) == ["1", "2", "3", "4", "4"]


def test_another_judge_beside_the_first_makes_another_run(tmp_path: Path) -> None:
    with FakeServer(graded) as one, FakeServer(graded) as two:
        runs = Runs(tmp_path, one, *rows(1))
        runs.grade(panel=jury(two))
        for other in (PanelSettings(), jury(two, one), PanelSettings(cross_judge=judge(two, "n0"))):
            with pytest.raises(RunFolderError, match="judge was"):
                runs.grade(panel=other)
        assert runs.grade(panel=jury(two, jury_rule="mean", quorum=1)).exit is Exit.OK


@pytest.mark.parametrize("panel", ["jury", "cross_judge", "escalate_to"])
def test_a_judge_is_not_set_beside_itself(tmp_path: Path, panel: str) -> None:
    named = "compat:m@http://127.0.0.1:1/v1/"
    runs = Runs(tmp_path, "compat:m@http://127.0.0.1:1/v1")
    settings = PanelSettings(**{panel: (named,) if panel == "jury" else named})  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="named twice"):
        runs.grade(panel=settings)
    assert not runs.out.exists()


def test_a_judge_beside_the_first_is_read_as_strictly(tmp_path: Path) -> None:
    runs = Runs(tmp_path, "compat:m@http://127.0.0.1:1/v1")
    with pytest.raises(UsageError, match="provider 'nobody' is not known"):
        runs.grade(panel=PanelSettings(cross_judge="nobody:n"))
    with pytest.raises(UsageError, match="plain http"):
        runs.grade(panel=PanelSettings(jury=("compat:n@http://example.com/v1",)))
    with pytest.raises(UsageError, match="can never hold here: margin"):
        runs.grade(panel=PanelSettings(escalate_to="compat:n@http://127.0.0.1:1/v1", escalate_when="margin<0.2"))
    assert not runs.out.exists()


def test_a_judge_that_cannot_be_asked_is_told_before_anything_is_spent(tmp_path: Path) -> None:
    with FakeServer(graded) as one:
        runs = Runs(tmp_path, one)
        with pytest.raises(JudgeSetupError, match=r"cannot be reached|refused"):
            runs.grade(panel=PanelSettings(jury=(f"compat:n@http://127.0.0.1:{unused_port()}/v1",)))
        with pytest.raises(JudgeSetupError, match="OPENAI_API_KEY"):
            runs.grade(panel=PanelSettings(jury=("openai:n",)))
        assert not one.requests
    assert not runs.out.exists()


def test_what_ends_a_run_of_several_judges_names_the_one_it_came_from(tmp_path: Path) -> None:
    with FakeServer(graded) as one, FakeServer(error(401, "key revoked")) as two:
        result = Runs(tmp_path, one, *rows(8)).grade(panel=jury(two), concurrency=1)
    assert (result.exit, result.ending) == (Exit.MISSING, "stopped")
    assert str(result.problem).startswith(judge(two, "n0"))


def test_a_judge_that_is_gone_is_told_apart_from_one_that_answers(tmp_path: Path) -> None:
    with FakeServer(graded) as one, FakeServer(lambda _: Answer(reset=True)) as two:
        runs = Runs(tmp_path, one, *rows(60))
        result = runs.grade(panel=jury(two), concurrency=2)
    assert (result.exit, result.ending) == (Exit.MISSING, "stopped")
    assert f"found no connection to {judge(two, 'n0')}" in str(result.problem)


def test_the_key_that_is_named_is_the_first_judge_s(tmp_path: Path) -> None:
    environ = {"MINE": "key-of-the-first", "COMPAT_API_KEY": "key-of-the-others"}
    with FakeServer(graded) as one, FakeServer(graded) as two:
        Runs(tmp_path, one, *rows(1)).grade(panel=jury(two), api_key_env="MINE", environ=environ)
        assert one.requests[0].headers["authorization"] == "Bearer key-of-the-first"
        assert two.requests[0].headers["authorization"] == "Bearer key-of-the-others"


def test_recorded_replies_may_sit_at_any_seat(tmp_path: Path) -> None:
    lines = [{"id": f"item-{n}", "reply": verdict(2)} for n in range(2)]
    with FakeServer(graded) as one:
        runs = Runs(tmp_path, one, *rows(2))
        assert runs.grade(panel=PanelSettings(jury=(recording(tmp_path, *lines),), jury_rule="min")).exit is Exit.OK
    assert overalls(runs) == ["2", "2"]


def test_every_judge_has_calls_of_its_own_in_flight(tmp_path: Path) -> None:
    slow = scoring(lambda _: 4)
    with (
        FakeServer(lambda request: slow(request).but(delay_s=0.05)) as one,
        FakeServer(lambda request: slow(request).but(delay_s=0.05)) as two,
    ):
        Runs(tmp_path, one, *rows(12)).grade(panel=jury(two), concurrency=3)
        assert (one.peak_in_flight, two.peak_in_flight) == (3, 3)


def test_all_judges_spend_from_one_budget(tmp_path: Path) -> None:
    with FakeServer(graded) as one, FakeServer(graded) as two:
        runs = Runs(tmp_path, one, *rows(10))
        stopped = runs.grade(panel=jury(two), prices=PRICES, max_cost=7.5 * CALL, max_tokens=20)
        calls = len(one.requests) + len(two.requests)
        assert (stopped.exit, stopped.ending) == (Exit.MISSING, "budget")
        assert 7.5 <= calls <= 8.5
        assert runs.grade(panel=jury(two), prices=PRICES, max_cost=7.5 * CALL, max_tokens=20).ending == "budget"
        assert len(one.requests) + len(two.requests) == calls
        assert runs.grade(panel=jury(two), prices=PRICES, max_cost=100 * CALL, max_tokens=20).exit is Exit.OK
        assert asked(one) == asked(two) == list(range(10))
        assert runs.grade(panel=jury(two), out=tmp_path / "other", max_calls=5).ending == "budget"
        assert len(one.requests) + len(two.requests) == 25


def test_a_cross_judge_is_asked_about_exactly_the_rows_that_are_drawn(tmp_path: Path) -> None:
    count = 25
    with FakeServer(graded) as one, FakeServer(scoring(lambda _: 1)) as two:
        runs = Runs(tmp_path, one, *rows(count))
        listener = Collected()
        settings = PanelSettings(cross_judge=judge(two), cross_sample=0.4)
        assert runs.grade(listener, limit=9, panel=settings).exit is Exit.OK
        assert runs.grade(listener, panel=settings, repeats=2).exit is Exit.OK
        result = runs.grade(listener, panel=settings, repeats=2)
        plan = plan_of(runs.manifest())
        drawn = [n for n in range(count) if plan.is_drawn(1, f"item-{n}")]
        assert 5 <= len(drawn) <= 15
        assert asked(two) == sorted(2 * drawn)
        assert asked(one) == sorted(2 * list(range(count)))
    early = [n for n in drawn if n < 9]
    assert [start.tasks for start in listener.starts] == [9 + len(early), 2 * (count + len(drawn)) - 9 - len(early)]
    assert set(overalls(runs)) == {"4"}  # the first one decides
    assert result.exit is Exit.OK
    assert result.summary.panel is not None
    assert [told.items for told in result.summary.panel.judges] == [count, len(drawn)]
    assert result.summary.panel.judges[1].states["not_run"] == 0
    names = {line["judge"] for line in read_journal(runs.out)}
    assert names == {runs.judge, judge(two)}


def test_other_rows_do_not_change_which_are_drawn(tmp_path: Path) -> None:
    with FakeServer(graded) as one, FakeServer(graded) as two:
        settings = PanelSettings(cross_judge=judge(two), cross_sample=0.5)
        Runs(tmp_path, one, *rows(20)[::-2]).grade(panel=settings)
        odd = asked(two)
        Runs(tmp_path, one, *rows(20)).grade(panel=settings, out=tmp_path / "all")
        everyone = asked(two)[:]
    assert [n for n in everyone if n % 2] == sorted(2 * odd)
