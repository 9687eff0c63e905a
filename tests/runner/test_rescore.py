"""Another rubric over a run's verdicts: what its words left alone needs no call, and the rest is asked for alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentanvil.errors import AnvilError, RunFolderError
from agentanvil.runner.exits import Exit
from agentanvil.runner.job import Surroundings
from agentanvil.runner.panel_settings import PanelSettings
from agentanvil.runner.rescore import Rescored, RescoreSettings, rescore
from tests.fakes.command import anvil
from tests.fakes.runs import Collected, Runs, read_journal, read_table, rows
from tests.fakes.server import FakeServer
from tests.fakes.verdicts import graded


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(graded) as server:
        yield server


def changed(runs: Runs, name: str, *changes: tuple[str, str]) -> str:
    """Write the run's rubric with some words replaced."""
    text = runs.rubric.read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = runs.folder / f"{name}.yaml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def rescored(runs: Runs, rubric: str, out: str = "new") -> Rescored:
    return rescore(RescoreSettings(runs.out, rubric, runs.folder / out), Surroundings({}), Collected())


def refused(runs: Runs, rubric: str, out: str = "new") -> AnvilError:
    with pytest.raises(RunFolderError) as caught:
        rescored(runs, rubric, out)
    return caught.value


WEIGHTED = ("calls: joint", "calls: joint\noverall: {rule: weighted, weights: {accuracy: 3, coverage: 1}}")
GATED = ("calls: joint", "calls: joint\ngate: {accuracy: 5}")
CHECKED = ("dimensions:\n", "dimensions:\n  - {id: short, check: {type: max_words, limit: 2}}\n")


def test_overall_weights_gates_and_checks_need_no_call(tmp_path: Path, server: FakeServer) -> None:
    runs = Runs(tmp_path, server)
    assert runs.grade().exit is Exit.OK
    before, asked = runs.reports(), len(server.requests)
    found = rescored(runs, changed(runs, "strict", GATED, CHECKED))
    assert (found.missing, found.changed, found.exit) == (0, {}, Exit.GATE_FAILED)
    items = read_table(found.folder, "items.csv")
    assert {(item["pass"], item["accuracy"], item["short"], item["overall"]) for item in items} == {
        ("false", "4", "1", "1")
    }
    assert len(server.requests) == asked
    assert runs.reports() == before


def test_grading_with_the_new_rubric_goes_on_in_the_same_folder(tmp_path: Path, server: FakeServer) -> None:
    runs = Runs(tmp_path, server, calls="split")
    runs.grade()
    asked = len(server.requests)
    rubric = changed(runs, "reworded", ("Is each part answered?", "Is every question answered?"))
    found = rescored(runs, rubric)
    assert (found.missing, found.changed, found.exit) == (3, {"coverage": ("coverage",)}, Exit.MISSING)
    states = {(item["accuracy_state"], item["coverage_state"]) for item in read_table(found.folder, "items.csv")}
    assert states == {("scored", "not_run")}
    done = runs.grade(rubric=rubric, out=found.folder)
    assert done.exit is Exit.OK
    assert len(server.requests) == asked + 3
    assert all("every question" in request.json["messages"][0]["content"] for request in server.requests[asked:])
    assert done.manifest["rescored_from"]["run"] == str(runs.out)


def test_a_joint_call_is_one_request(tmp_path: Path, server: FakeServer) -> None:
    runs = Runs(tmp_path, server)
    runs.grade()
    found = rescored(runs, changed(runs, "reworded", ("exactly one part is missing", "one part is missing")))
    assert found.changed == {"joint": ("accuracy", "coverage")}
    assert (found.missing, found.exit) == (3, Exit.MISSING)
    assert {item["state"] for item in read_table(found.folder, "items.csv")} == {"not_run"}


def test_a_verdict_that_failed_is_taken_over_as_such_and_asked_again(tmp_path: Path, server: FakeServer) -> None:
    answers = iter(range(100))
    with FakeServer(lambda request: graded(request, 9 if next(answers) == 0 else 4)) as broken:
        runs = Runs(tmp_path, broken)
        assert runs.grade(concurrency=1).exit is Exit.MISSING
        rubric = changed(runs, "weighted", WEIGHTED)
        found = rescored(runs, rubric)
        assert (found.missing, found.changed) == (1, {})
        assert rescored(runs, rubric).missing == 1
        assert len(read_journal(found.folder)) == 3
        assert runs.grade(rubric=rubric, out=found.folder).exit is Exit.OK
        assert rescored(runs, rubric).missing == 0
        assert rescored(runs, rubric).exit is Exit.OK


def test_the_numbers_are_those_of_a_run_with_the_new_rubric(tmp_path: Path, server: FakeServer) -> None:
    runs = Runs(tmp_path, server, *rows(5))
    runs.grade(repeats=2)
    rubric = changed(runs, "weighted", WEIGHTED)
    found = rescored(runs, rubric)
    fresh = runs.grade(rubric=rubric, out=tmp_path / "fresh", repeats=2)
    for name in ("items.csv", "scores.csv"):
        assert (found.folder / name).read_bytes() == (fresh.folder / name).read_bytes()
    assert found.summary.overall == fresh.summary.overall


def test_other_rows_are_refused(tmp_path: Path, server: FakeServer) -> None:
    runs = Runs(tmp_path, server)
    runs.grade()
    runs.data.write_text(runs.data.read_text(encoding="utf-8").replace("number 2", "number 7"), encoding="utf-8")
    assert "has changed since this run" in str(refused(runs, changed(runs, "weighted", WEIGHTED)))
    assert not (tmp_path / "new").exists()


def test_a_rubric_of_another_mode_is_refused_and_one_under_the_mode_flag_is_not(
    tmp_path: Path, server: FakeServer
) -> None:
    runs = Runs(tmp_path, server)
    runs.grade()
    gate = changed(runs, "gate", ("calls: joint", "calls: joint\nmode: gate"))
    assert "made in the mode absolute, and the new rubric is of the mode gate" in str(refused(runs, gate))
    assert not (tmp_path / "new").exists()
    runs.out = tmp_path / "flagged"
    runs.grade(mode="gate")
    assert rescored(runs, changed(runs, "named", ("id: small", "id: other"))).missing == 0


def test_the_old_run_is_not_overwritten(tmp_path: Path, server: FakeServer) -> None:
    runs = Runs(tmp_path, server)
    runs.grade()
    before = runs.reports()
    assert "--out" in str(refused(runs, changed(runs, "weighted", WEIGHTED), "run"))
    assert runs.reports() == before


def test_the_command_says_which_dimensions_need_calls(tmp_path: Path, server: FakeServer) -> None:
    runs = Runs(tmp_path, server, calls="split")
    runs.grade()
    rubric = changed(runs, "reworded", ("Is each part answered?", "Is every question answered?"))
    done = anvil("report", runs.out, "--rubric", rubric, "--out", "new", "--format", "json", cwd=tmp_path)
    assert done.code == Exit.MISSING
    assert json.loads(done.out)["coverage"]["states"]["not_run"] == 3
    assert "needs new calls: coverage; the new rubric asks for it in other words" in done.err
    assert f"3 judge call(s) are open; `anvil grade` with --rubric {rubric} --out new asks for those alone" in done.err
    alone = anvil("report", runs.out, "--out", "new", cwd=tmp_path)
    assert (alone.code, alone.out) == (2, b"")


def test_every_judge_of_a_panel_is_taken_over(tmp_path: Path, server: FakeServer) -> None:
    with FakeServer(lambda request: graded(request, 2)) as second:
        runs = Runs(tmp_path, server)
        panel = PanelSettings(jury=(f"compat:strict@{second.url}",), jury_rule="min")
        runs.grade(panel=panel)
        asked = len(second.requests)
        rubric = changed(runs, "weighted", WEIGHTED)
        found = rescored(runs, rubric)
        assert (found.missing, found.exit) == (0, Exit.OK)
        assert {item["overall"] for item in read_table(found.folder, "items.csv")} == {"2"}
        assert runs.grade(panel=panel, rubric=rubric, out=found.folder).exit is Exit.OK
        assert len(second.requests) == asked


def test_evidence_that_was_not_asked_for_is_not_missed(tmp_path: Path, server: FakeServer) -> None:
    runs = Runs(tmp_path, server)
    runs.grade(evidence="none")
    rubric = changed(runs, "weighted", WEIGHTED)
    found = rescored(runs, rubric)
    assert (found.missing, found.changed) == (0, {})
    assert runs.grade(evidence="none", rubric=rubric, out=found.folder).exit is Exit.OK
