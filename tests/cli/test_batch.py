"""`anvil batch` as a process of its own: killed, taken up again, and never handing a row over twice."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.batch_runs import ENVIRON, KEY
from tests.fakes.batch_servers import BatchServer, OpenAIBatchServer
from tests.fakes.command import Ended, anvil, begun
from tests.fakes.runs import read_journal, read_table, rows
from tests.fakes.server import Answer
from tests.fakes.verdicts import small_rubric, write_rows


@pytest.fixture
def server() -> Iterator[OpenAIBatchServer]:
    with OpenAIBatchServer() as server:
        yield server


class Shell:
    """A folder with rows and a rubric, and the verbs on the run folder `run` in it."""

    def __init__(self, folder: Path, server: BatchServer, count: int) -> None:
        self.folder = folder
        self.run = folder / "run"
        small_rubric(folder)
        write_rows(folder, *rows(count))
        self.wanted = ("--rubric", "joint.yaml", "--judge", f"openai:m@{server.url}", "--out", "run")

    def submit(self, *more: str) -> Ended:
        return self.anvil("submit", "rows.jsonl", *self.wanted, *more)

    def anvil(self, verb: str, *arguments: str) -> Ended:
        return anvil("batch", verb, *arguments, cwd=self.folder, environ=ENVIRON)

    def killed_while_creating(self, server: BatchServer, *more: str) -> None:
        """Submit, and kill the process when the provider has the batch and the process does not know it yet."""
        created = threading.Event()

        def hang(answer: Answer) -> Answer:
            created.set()
            return answer.but(hang=True)

        server.create_answer = hang
        words = ("batch", "submit", "rows.jsonl", *self.wanted, *more)
        with begun(*words, cwd=self.folder, environ=ENVIRON) as process:
            assert created.wait(60)
            process.kill()
        server.create_answer = lambda answer: answer


def no_key_below(folder: Path) -> bool:
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != "rows.jsonl"]
    return not any(KEY.encode() in path.read_bytes() for path in files)


def test_a_thousand_rows_with_failed_lines_are_all_scored_after_one_more_submission(tmp_path: Path) -> None:
    failing = ("server_error", "expired", "rejected")
    with OpenAIBatchServer(lambda at: failing[at // 33 % 3] if at < 990 and at % 33 == 7 else "") as server:
        shell = Shell(tmp_path, server, 1000)
        shell.killed_while_creating(server, "--batch-size", "600")
        again = shell.submit("--batch-size", "600")
        assert again.code == 0, again.err
        assert server.handed.total() == len(server.handed) == 999
        server.finish()
        first = shell.anvil("collect", "run", "--wait")
        assert first.code == 3, first.err
        assert len(read_journal(shell.run)) < 1000
        assert shell.submit().code == 0
        assert server.handed.total() == 999 + 30
        server.finish()
        second = shell.anvil("collect", "run", "--format", "json")
        assert second.code == 0, second.err
    found = json.loads(second.out)
    assert (found["coverage"]["covered"], found["coverage"]["expected"]) == (2000, 2000)
    assert [item["state"] for item in read_table(shell.run, "items.csv")] == ["scored"] * 1000
    scored = [line["task"] for line in read_journal(shell.run) if "judge_error" not in json.dumps(line)]
    assert len(scored) == len(set(scored)) == 1000
    assert no_key_below(tmp_path)


def test_the_verbs_say_what_to_do_next(tmp_path: Path, server: OpenAIBatchServer) -> None:
    shell = Shell(tmp_path, server, 4)
    done = shell.submit()
    assert (done.code, done.out) == (0, b"")
    assert "3 requests in 1 batch(es), 1 settled at once" in done.err
    assert "anvil batch collect run --wait" in done.err
    status = shell.anvil("status", "run")
    assert (status.code, status.out) == (3, b"")
    assert "in_progress" in status.err
    assert "wait" in status.err
    early = shell.anvil("collect", "run", "--quiet")
    assert early.code == 3
    assert "1 batch(es) still run" in early.err


def test_machine_output_stands_alone_and_an_open_batch_stops_a_live_run(
    tmp_path: Path, server: OpenAIBatchServer
) -> None:
    shell = Shell(tmp_path, server, 3)
    assert json.loads(shell.submit("--format", "json", "--quiet").out) == {
        "run": "run",
        "batches": ["batch_1"],
        "requests": 2,
        "settled": 1,
        "waiting": 0,
        "held_back": 0,
    }
    live = anvil("grade", "rows.jsonl", *shell.wanted, cwd=tmp_path, environ=ENVIRON)
    assert live.code == 2
    assert "2 judge calls of this run are in an open batch" in live.err
    assert "anvil batch collect" in live.err
    assert server.live == 1
    cancelled = shell.anvil("cancel", "run", "--format", "json")
    assert (cancelled.code, json.loads(cancelled.out)["batches"][0]["state"]) == (0, "cancelling")
    assert "collect them once they have ended" in cancelled.err
