"""Reports follow from manifest and journal alone: their order of lines, and what else happened, cannot show."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import orjson
import pytest

from agentanvil.errors import RunFolderError
from agentanvil.runner.exits import Exit
from agentanvil.runner.report import report
from tests.fakes.runs import Collected, Runs, read_journal, read_table, recording, rows, verdict

REPEATS = 2


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    """A finished run over four rows, twice each, whose scores all differ somewhere."""
    lines = [
        {"id": f"item-{row}", "repeat": repeat, "reply": verdict(1 + (row + repeat) % 5, 5 - row % 5)}
        for row in range(4)
        for repeat in range(REPEATS)
    ]
    runs = Runs(tmp_path, recording(tmp_path, *lines), *rows(4))
    assert runs.grade(repeats=REPEATS).exit is Exit.OK
    return runs


def lines_of(runs: Runs) -> list[bytes]:
    return (runs.out / "journal.jsonl").read_bytes().splitlines(keepends=True)


def keep(runs: Runs, *lines: bytes) -> None:
    (runs.out / "journal.jsonl").write_bytes(b"".join(lines))


def rebuilt(runs: Runs, listener: Collected | None = None) -> dict[str, bytes]:
    report(runs.out, listener or Collected())
    return runs.reports()


def test_every_report_can_be_rebuilt_byte_for_byte(runs: Runs) -> None:
    before = runs.reports()
    for name in before:
        (runs.out / name).unlink()
    summary, code = report(runs.out, Collected())
    assert runs.reports() == before
    assert (summary.items, code) == (4, Exit.OK)


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_the_journal_cannot_show(runs: Runs, seed: int) -> None:
    before, (head, *lines) = runs.reports(), lines_of(runs)
    random.Random(seed).shuffle(lines)
    keep(runs, head, *lines)
    assert rebuilt(runs) == before


def test_of_two_lines_for_a_task_the_later_one_counts(runs: Runs) -> None:
    before, (head, first, *rest) = runs.reports(), lines_of(runs)
    failed = orjson.loads(first)
    failed["cells"] = {name: {"state": "judge_error", "code": "timeout"} for name in failed["cells"]}
    line = orjson.dumps(failed, option=orjson.OPT_APPEND_NEWLINE)
    keep(runs, head, line, *rest, first)
    assert rebuilt(runs) == before
    keep(runs, head, first, *rest, line)
    assert rebuilt(runs) != before
    assert read_table(runs.out, "scores.csv")[0]["code"] == "timeout"


def test_lines_outside_the_plan_are_passed_over(runs: Runs) -> None:
    before, lines = runs.reports(), lines_of(runs)
    beyond = orjson.loads(lines[1])
    for change in ({"row": 99}, {"row": -1}, {"repeat": 7}, {"call": "gone"}):
        lines.append(orjson.dumps(beyond | change, option=orjson.OPT_APPEND_NEWLINE))
    keep(runs, *lines)
    assert rebuilt(runs) == before


@pytest.mark.parametrize("cut", [1, 20, 150])
def test_a_half_written_last_line_is_a_task_that_was_not_run(runs: Runs, cut: int) -> None:
    *whole, last = lines_of(runs)
    keep(runs, *whole, last[:-cut])
    rebuilt(runs)
    cells = read_table(runs.out, "scores.csv")
    assert [cell["state"] for cell in cells] == ["scored"] * 14 + ["not_run"] * 2
    assert {cell["id"] for cell in cells} == {f"item-{row}" for row in range(4)}


def test_a_damaged_line_is_told_with_its_place_and_the_reports_stay(runs: Runs) -> None:
    before, lines = runs.reports(), lines_of(runs)
    for damage in (
        b'{"task"\n',
        b"\n",
        b"null\n",
        b'{"task":"a"}\n',
        b'{"row":"0","call":"joint","repeat":0,"cells":{}}\n',
    ):
        keep(runs, *lines[:3], damage, *lines[3:])
        with pytest.raises(RunFolderError, match="damaged line") as caught:
            report(runs.out, Collected())
        assert caught.value.where is not None
        assert (caught.value.where.file, caught.value.where.line) == (str(runs.out / "journal.jsonl"), 4)
    assert runs.reports() == before


@pytest.mark.parametrize("head", [b'{"journal":1,"run":"other"}\n', b'{"journal":9}\n', b"garbage\n"])
def test_a_journal_that_is_not_this_runs_is_refused(runs: Runs, head: bytes) -> None:
    keep(runs, head, *lines_of(runs)[1:])
    with pytest.raises(RunFolderError, match="journal"):
        report(runs.out, Collected())


def test_a_run_without_a_journal_has_nothing_but_gaps(runs: Runs) -> None:
    (runs.out / "journal.jsonl").unlink()
    _, code = report(runs.out, Collected())
    assert code is Exit.MISSING
    assert {item["state"] for item in read_table(runs.out, "items.csv")} == {"not_run"}


class Interrupted:
    """The run as an interruption after its first row left it."""

    def __init__(self, runs: Runs) -> None:
        manifest = runs.manifest() | {"state": "interrupted"}
        (runs.out / "manifest.json").write_bytes(orjson.dumps(manifest))
        keep(runs, *lines_of(runs)[:3])


def test_rows_that_were_not_run_are_named_by_the_data(runs: Runs) -> None:
    Interrupted(runs)
    listener = Collected()
    _, code = report(runs.out, listener)
    assert code is Exit.INTERRUPTED
    assert [item["id"] for item in read_table(runs.out, "items.csv")] == [f"item-{row}" for row in range(4)]
    assert listener.notices == []


@pytest.mark.parametrize(
    ("text", "reason"), [(None, "No such file"), ('{"id":"a","request":"b","response":"c"}\n', "changed"), ("{", "")]
)
def test_rows_whose_data_is_gone_are_named_by_their_number(runs: Runs, text: str | None, reason: str) -> None:
    Interrupted(runs)
    runs.data.unlink()
    if text is not None:
        runs.data.write_text(text, encoding="utf-8")
    listener = Collected()
    report(runs.out, listener)
    names = [item["id"] for item in read_table(runs.out, "items.csv")]
    assert names == ["item-0", "(row 2)", "(row 3)", "(row 4)"]
    assert len(listener.notices) == 1
    assert reason in listener.notices[0]


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match=r"no manifest\.json"):
        report(tmp_path, Collected())
    assert list(tmp_path.iterdir()) == []


def test_hidden_fields_and_flags_are_noted(tmp_path: Path) -> None:
    row: dict[str, Any] = {"id": "a", "request": "?", "response": "It is the number \ud83d", "expected": "7"}
    runs = Runs(tmp_path, recording(tmp_path, {"id": "a", "reply": verdict(4)}), row)
    notes = runs.grade().summary.notes
    assert "the judge never saw the field(s) expected" in notes
    assert "1 row(s) carry the flag surrogates_replaced" in notes
    assert runs.manifest()["data"]["hidden_fields"] == ["expected"]
    assert read_journal(runs.out)[0]["flags"] == ["surrogates_replaced"]
