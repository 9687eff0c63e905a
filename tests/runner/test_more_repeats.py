"""`--repeats auto`: two of each, more exactly where these disagree, within the budget, and the same however often."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentanvil.client.prices import PriceTable
from agentanvil.errors import UsageError
from agentanvil.runner.batch.access import World
from agentanvil.runner.batch.submit import submit
from agentanvil.runner.config import Config, grade_settings
from agentanvil.runner.estimate import estimate
from agentanvil.runner.exits import Exit
from agentanvil.runner.job import Surroundings
from agentanvil.runner.panel_settings import PanelSettings
from agentanvil.runner.report import report
from agentanvil.runner.rescore import RescoreSettings, rescore
from agentanvil.runner.settings import parse_repeats
from agentanvil.runner.study import Arm
from tests.fakes.pairs import pair_rows, pair_rubric
from tests.fakes.panels import jury, number_in
from tests.fakes.runs import Collected, Runs, read_journal, read_table, recording, rows
from tests.fakes.server import Answer, FakeServer, Recorded, error
from tests.fakes.verdicts import graded

COUNT = 8
DISPUTED = {2, 5}
# A call of the loopback judge costs 100 tokens in and 20 out.
PRICES = PriceTable.read({"m": {"input": 10.0, "output": 50.0}}, "anvil.yaml")
CALL = (100 * 10.0 + 20 * 50.0) / 1_000_000
AUTO: dict[str, Any] = {"repeats": 5, "adaptive": True}


def repeat_of(request: Recorded) -> int:
    """The first repeat is sent with the seed 0, each further one with the next."""
    return int(request.json["seed"])


def unsteady(disputed: set[int] = DISPUTED) -> Callable[[Recorded], Answer]:
    """A judge that says 4, and of disputed rows by turns 4 and 3."""

    def answer(request: Recorded) -> Answer:
        turn = repeat_of(request) % 2
        return graded(request, 4 - (turn if number_in(request.body.decode()) in disputed else 0))

    return answer


def asked_by_repeat(server: FakeServer) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for request in server.requests:
        found.setdefault(number_in(request.body.decode()), []).append(repeat_of(request))
    return {row: sorted(repeats) for row, repeats in sorted(found.items())}


@pytest.fixture
def server() -> Any:
    with FakeServer(unsteady()) as found:
        yield found


def test_only_items_whose_readings_disagree_are_asked_again(tmp_path: Path, server: FakeServer) -> None:
    runs, listener = Runs(tmp_path, server, *rows(COUNT)), Collected()
    result = runs.grade(listener, **AUTO)
    assert asked_by_repeat(server) == {n: list(range(5 if n in DISPUTED else 2)) for n in range(COUNT)}
    assert (result.ending, result.exit) == ("complete", Exit.OK)
    assert [(start.repeated, start.tasks) for start in listener.starts] == [(False, 16), (True, 6)]
    assert [row["accuracy_n"] for row in read_table(runs.out, "items.csv")] == [
        "5" if n in DISPUTED else "2" for n in range(COUNT)
    ]
    # 4, 3, 4, 3, 4.
    assert {row["accuracy"] for row in read_table(runs.out, "items.csv")} == {"4", "3.6"}


def test_repeats_that_were_not_due_are_missing_from_nothing(tmp_path: Path, server: FakeServer) -> None:
    runs = Runs(tmp_path, server, *rows(COUNT))
    summary = runs.grade(**AUTO).summary
    # Two dimensions; six items twice, two items five times.
    assert (summary.coverage.expected, summary.coverage.covered) == (2 * 22, 2 * 22)
    assert summary.dimensions[0].states["not_run"] == 0
    assert summary.dimensions[0].distribution == {"1": 0, "2": 0, "3": 4, "4": 18, "5": 0}
    assert summary.more_repeats is not None
    assert (summary.more_repeats.first, summary.more_repeats.items) == (2, 2)
    assert any("2 of 8 item(s) have more than 2 repeats" in note for note in summary.notes)
    assert len(read_table(runs.out, "scores.csv")) == 2 * 22


def test_how_far_readings_lie_apart_is_told_by_the_first_two_alone(tmp_path: Path, server: FakeServer) -> None:
    runs = Runs(tmp_path, server, *rows(COUNT))
    adaptive = runs.grade(**AUTO).summary
    fixed = runs.grade(repeats=2, out=tmp_path / "twice").summary
    for mine, theirs in zip((*adaptive.dimensions, adaptive.overall), (*fixed.dimensions, fixed.overall), strict=True):
        assert mine.variance is not None
        assert theirs.variance is not None
        assert mine.variance.components[3].variance.estimate == theirs.variance.components[3].variance.estimate
        assert mine.variance.readings == 16
        assert (mine.repeat_sd, mine.unanimous, mine.modal_agreement) == (
            theirs.repeat_sd,
            theirs.unanimous,
            theirs.modal_agreement,
        )
    assert adaptive.dimensions[0].mean.value == pytest.approx((6 * 4 + 2 * 3.6) / 8)


def test_a_finished_run_asks_nothing_and_reports_the_same(tmp_path: Path, server: FakeServer) -> None:
    runs = Runs(tmp_path, server, *rows(COUNT))
    runs.grade(**AUTO)
    before, calls = runs.reports(), len(server.requests)
    listener = Collected()
    assert runs.grade(listener, **AUTO).exit is Exit.OK
    assert not listener.starts
    report(runs.out, Collected())
    assert runs.reports() == before
    assert len(server.requests) == calls


@pytest.mark.parametrize("limit", [1, 15, 16, 17, 19, 21])
def test_a_budget_ends_it_anywhere_and_it_goes_on_there(tmp_path: Path, server: FakeServer, limit: int) -> None:
    runs = Runs(tmp_path, server, *rows(COUNT))
    first = runs.grade(max_calls=limit, concurrency=1, **AUTO)
    assert (first.ending, first.exit) == ("budget", Exit.MISSING)
    assert len(server.requests) == limit
    last = runs.grade(**AUTO)
    assert (last.ending, last.exit) == ("complete", Exit.OK)
    assert len(server.requests) == 22
    at_once = Runs(tmp_path, server, *rows(COUNT))
    at_once.grade(out=tmp_path / "at-once", **AUTO)
    assert runs.reports() == runs.reports(tmp_path / "at-once")


def test_what_was_due_and_not_asked_is_missing(tmp_path: Path, server: FakeServer) -> None:
    runs = Runs(tmp_path, server, *rows(COUNT))
    summary = runs.grade(max_cost=19.5 * CALL, prices=PRICES, concurrency=1, **AUTO).summary
    assert summary.dimensions[0].states["not_run"] == 2
    assert summary.more_repeats is not None
    assert summary.more_repeats.items == 2


def test_a_run_may_go_on_with_a_number_and_back(tmp_path: Path, server: FakeServer) -> None:
    runs = Runs(tmp_path, server, *rows(COUNT))
    runs.grade(**AUTO)
    before = runs.reports()
    assert runs.grade(repeats=5).summary.dimensions[0].states["scored"] == 40
    runs.grade(**AUTO)
    assert runs.reports() == before


def test_another_rubric_takes_over_what_there_is(tmp_path: Path, server: FakeServer) -> None:
    runs = Runs(tmp_path, server, *rows(COUNT))
    before = runs.grade(**AUTO).summary
    gated = tmp_path / "gated.yaml"
    text = runs.rubric.read_text(encoding="utf-8").replace("calls: joint", "calls: joint\ngate: {accuracy: 4}")
    gated.write_text(text, encoding="utf-8")
    found = rescore(RescoreSettings(runs.out, str(gated), tmp_path / "new"), Surroundings({}), Collected())
    assert (found.missing, found.summary.gate.failed) == (0, 2)
    assert found.summary.coverage == before.coverage
    assert found.summary.more_repeats == before.more_repeats
    calls = len(server.requests)
    runs.grade(rubric=str(gated), out=tmp_path / "new", **AUTO)
    assert len(server.requests) == calls


def test_a_failed_call_is_no_disagreement_and_told_anew_once_it_is_there(tmp_path: Path) -> None:
    failing = True

    def answer(request: Recorded) -> Answer:
        down = failing and number_in(request.body.decode()) == 2 and repeat_of(request) == 1
        return error(500) if down else unsteady()(request)

    with FakeServer(answer) as server:
        runs = Runs(tmp_path, server, *rows(COUNT))
        assert runs.grade(**AUTO).exit is Exit.MISSING
        assert asked_by_repeat(server)[2] == [0, 1]
        failing = False
        assert runs.grade(**AUTO).exit is Exit.OK
        assert asked_by_repeat(server)[2] == [0, 1, 1, 2, 3, 4]


def test_a_jury_repeats_where_any_of_its_judges_is_of_two_minds(tmp_path: Path) -> None:
    with FakeServer(unsteady({1})) as one, FakeServer(unsteady({1, 3})) as two, FakeServer(graded) as three:
        runs = Runs(tmp_path, one, *rows(5))
        result = runs.grade(panel=jury(two, three), repeats=3, adaptive=True)
        for judge in (one, two, three):
            assert asked_by_repeat(judge) == {n: list(range(3 if n in (1, 3) else 2)) for n in range(5)}
        assert result.exit is Exit.OK
        before = runs.reports()
        report(runs.out, Collected())
        assert runs.reports() == before
    panel = result.summary.panel
    assert panel is not None
    assert [judge.states["scored"] for judge in panel.judges] == [2 * 12] * 3
    assert result.summary.dimensions[0].variance is not None
    assert result.summary.dimensions[0].variance.readings == 5 * 3 * 2


def test_a_cross_judge_is_repeated_with_the_others_and_has_no_say(tmp_path: Path) -> None:
    with FakeServer(unsteady({1})) as one, FakeServer(unsteady(set(range(6)))) as two:
        runs = Runs(tmp_path, one, *rows(6))
        panel = PanelSettings(cross_judge=f"compat:n@{two.url}", cross_sample=1.0)
        result = runs.grade(panel=panel, repeats=4, adaptive=True)
        wanted = {n: list(range(4 if n == 1 else 2)) for n in range(6)}
        assert asked_by_repeat(one) == wanted
        assert asked_by_repeat(two) == wanted
        assert result.exit is Exit.OK


def test_calls_in_both_ways_are_repeated_together(tmp_path: Path, server: FakeServer) -> None:
    runs = Runs(tmp_path, server, *rows(3))
    summary = runs.grade(calls="both", repeats=3, adaptive=True).summary
    assert [(ways.id, ways.joint.n) for ways in summary.call_ways] == [("accuracy", 3), ("coverage", 3)]
    # One joint and two split calls a repeat.
    assert len(server.requests) == 3 * (2 + 2 + 3)


LEADS = {  # of each pair the winners by repeat, of both orders
    "steady": [("A", "B"), ("A", "B")],
    "place": [("A", "A"), ("A", "A")],
    "two-minds": [("A", "B"), ("B", "B"), ("A", "B"), ("A", "B")],
}


def test_pairs_are_held_against_each_other_in_the_same_order(tmp_path: Path) -> None:
    lines = []
    for name, repeats in LEADS.items():
        for repeat, winners in enumerate(repeats):
            for order, slot in zip(("ab", "ba"), winners, strict=True):
                reply = {d: {"winner": slot, "margin": 1} for d in ("accuracy", "coverage")}
                lines.append({"id": name, "repeat": repeat, "order": order, "reply": {**reply, "winner": slot}})
    data = [{**row, "id": name} for row, name in zip(pair_rows(3), LEADS, strict=True)]
    runs = Runs(tmp_path, recording(tmp_path, *lines), *data)
    runs.rubric = pair_rubric(tmp_path)
    result = runs.grade(mode="pairwise", order="both", repeats=4, adaptive=True)
    assert Counter(line["row"] for line in read_journal(runs.out)) == {0: 4, 1: 4, 2: 8}
    assert result.exit is Exit.OK
    pairwise = result.summary.pairwise
    assert pairwise is not None
    # Of the first two repeats alone: one pair always by its place.
    assert (pairwise.agreement.consistent, pairwise.agreement.inconsistent) == (3, 3)


def test_the_estimate_tells_the_least_and_the_most_until_it_is_known(tmp_path: Path, server: FakeServer) -> None:
    runs = Runs(tmp_path, server, *rows(COUNT))
    before = estimate(runs.settings(dry_run=True, **AUTO), Surroundings({}))
    assert (before.calls, before.most.calls) == (16, 40)
    runs.grade(max_calls=18, concurrency=1, **AUTO)
    after = estimate(runs.settings(dry_run=True, **AUTO), Surroundings({}))
    assert (after.calls, after.most.calls) == (4, 4)


@pytest.mark.parametrize(
    ("given", "wanted"), [(3, (3, False)), ("3", (3, False)), ("auto", (5, True)), ("auto:7", (7, True))]
)
def test_what_the_flag_means(given: int | str, wanted: tuple[int, bool]) -> None:
    assert parse_repeats(given) == wanted
    settings = grade_settings("rows.jsonl", {"rubric": "r.yaml", "repeats": given}, Config())
    assert (settings.repeats, settings.adaptive) == wanted


@pytest.mark.parametrize("given", ["auto:", "auto:x", "Auto", "", "3.5", "auto:-1", "١", "auto:3:4", "1e9"])
def test_other_words_are_refused(given: str) -> None:
    with pytest.raises(UsageError, match="--repeats is a number, auto or auto:MAX"):
        parse_repeats(given)


@pytest.mark.parametrize("most", [1, 2])
def test_a_most_that_leaves_nothing_to_add_is_refused(tmp_path: Path, most: int) -> None:
    with pytest.raises(UsageError, match="auto:MAX must be at least 3"):
        Runs(tmp_path, "recorded:none").settings(repeats=most, adaptive=True)


def test_what_it_does_not_go_with_is_refused(tmp_path: Path) -> None:
    runs = Runs(tmp_path, "recorded:none")
    with pytest.raises(UsageError, match="exclude one another"):
        runs.settings(panel=PanelSettings(escalate_to="recorded:other"), **AUTO)
    with pytest.raises(UsageError, match="equally often"):
        Arm("plain", runs.settings(**AUTO))
    with pytest.raises(UsageError, match="a batch asks everything at once"):
        submit(runs.settings(**AUTO), World(Surroundings({}), Collected()))
    assert not runs.out.exists()


def test_the_folder_says_so_and_runs_from_before_are_read(tmp_path: Path, server: FakeServer) -> None:
    runs = Runs(tmp_path, server, *rows(3))
    runs.grade(repeats=2)
    manifest = runs.manifest()
    assert manifest["plan"].pop("adaptive") is False
    before = runs.reports()
    (runs.out / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    report(runs.out, Collected())
    assert runs.reports() == before
