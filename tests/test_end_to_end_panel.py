"""Several judges through the installed command: killed and interrupted between two of them, configured, told apart."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from tests.fakes.command import anvil, begun, end_of
from tests.fakes.panels import asked, judge, scoring
from tests.fakes.runs import Runs, read_journal, read_table, rows
from tests.fakes.server import Answer, FakeServer, Recorded
from tests.fakes.verdicts import graded
from tests.test_end_to_end_stops import until_asked

ROWS, CONCURRENCY = 16, 2


def command(runs: Runs, *more: str) -> tuple[str | Path, ...]:
    usual = ("grade", runs.data, "--rubric", runs.rubric, "--judge", runs.judge, "--out", runs.out)
    return (*usual, "--cache", "off", "--concurrency", str(CONCURRENCY), *more)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Unix signals")
def test_a_run_that_is_stopped_while_it_escalates_goes_on_there(tmp_path: Path) -> None:
    def slow(request: Recorded) -> Answer:
        return graded(request, 2).but(delay_s=0.1)

    with FakeServer(graded) as cheap, FakeServer(slow) as strong:
        runs = Runs(tmp_path, cheap, *rows(ROWS))
        escalated = command(runs, "--escalate-to", judge(strong), "--escalate-share", "1")
        with begun(*escalated, cwd=tmp_path) as process:
            until_asked(strong, 4, process)
            process.send_signal(signal.SIGKILL)
        with begun(*escalated, cwd=tmp_path) as process:
            until_asked(strong, len(strong.requests) + 4, process)
            process.send_signal(signal.SIGINT)
            ended = end_of(process)
        assert ended.code == 130
        assert "in flight finish" in ended.err
        assert f"{judge(strong)}: " in ended.err
        assert anvil(*escalated, cwd=tmp_path).code == 0
        assert asked(cheap) == list(range(ROWS))
        assert set(asked(strong)) == set(range(ROWS))
        assert len(strong.requests) <= ROWS + CONCURRENCY  # the kill lost what was in flight
    lines = [(line["row"], line["judge"]) for line in read_journal(runs.out)]
    assert len(lines) == len(set(lines)) == 2 * ROWS
    assert {row["overall"] for row in read_table(runs.out, "items.csv")} == {"4"}  # nobody was unsure


def test_a_jury_from_flags_and_one_from_the_file_are_the_same_run(tmp_path: Path) -> None:
    with FakeServer(graded) as one, FakeServer(scoring(lambda _: 2)) as two, FakeServer(scoring(lambda _: 1)) as three:
        runs = Runs(tmp_path, one, *rows(3))
        others = [judge(two, "n"), judge(three, "n")]
        first = anvil(*command(runs, "--judge", others[0], "--judge", others[1], "--jury", "min"), cwd=tmp_path)
        assert first.code == 0
        assert others[1] in first.err
        (tmp_path / "anvil.yaml").write_text(json.dumps({"judge": [runs.judge, *others], "jury": "min"}), "utf-8")
        plain = ("grade", runs.data, "--rubric", runs.rubric, "--out", runs.out, "--cache", "off", "--format", "json")
        again = anvil(*plain, cwd=tmp_path)
        assert again.code == 0
        assert [len(server.requests) for server in (one, two, three)] == [3, 3, 3]
    assert json.loads(again.out)["overall"]["mean"]["value"] == 1.0


def test_what_cannot_be_meant_is_told_and_nothing_is_spent(tmp_path: Path) -> None:
    runs = Runs(tmp_path, "compat:m@http://127.0.0.1:1/v1")
    flags = ("--escalate-to", "compat:n@http://127.0.0.1:1/v1", "--escalate-when", "entropy > high")
    ended = anvil(*command(runs, *flags), cwd=tmp_path)
    assert (ended.code, ended.out) == (2, b"")
    assert "--escalate-when, column 11: " in ended.err
    assert not runs.out.exists()
