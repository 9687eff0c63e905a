"""What a person may get wrong, and what must never get out: exit 2 with one message, and no secret anywhere."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.command import ROOT, anvil, begun
from tests.fakes.runs import Runs, rows, verdict
from tests.fakes.server import Answer, FakeServer, Recorded, answer_json, chat_body, error, unused_port
from tests.fakes.verdicts import graded

ROW = b'{"id":"a","request":"q","response":"r"}\n'
FEW = rows(2)


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(graded) as server:
        yield server


def grade(runs: Runs, *more: str, **environ: str) -> Any:
    usual = (runs.data, "--rubric", runs.rubric, "--judge", runs.judge, "--out", "R")
    return anvil("grade", *usual, *more, cwd=runs.folder, environ=environ)


def one_message(text: str) -> str:
    """Return the error, which must be the only one, and no traceback."""
    assert "Traceback" not in text
    assert text.count("error:") == 1
    return text[text.index("error:") :]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        pytest.param(ROW + b'{"id":"b","request":"q"}\n', ("rows.jsonl:2: response",), id="missing-field"),
        pytest.param(ROW + ROW, ("rows.jsonl:2: id", "`a`", "line 1"), id="O-B15-duplicate-id"),
        pytest.param(b'{"id":1,"request":"q","response":"r"}\n{"id":"1","request":"q","response":"r"}\n',
                     ("rows.jsonl:2: id",), id="O-B16-same-id-as-text"),
        pytest.param(ROW + b'\n{"id":"b","request":"q","response":NaN}\n', ("rows.jsonl:3", "NaN"), id="O-B20-nan"),
        pytest.param(b'{"id":"a","request":"q","respones":"r"}\n', ("rows.jsonl:1", "respones"), id="O-B22-wrong-key"),
        pytest.param(b'{"id":"a","request":"q","response":"r","id":"b"}\n', ("rows.jsonl:1", "id"), id="key-twice"),
        pytest.param(b"", ("rows.jsonl: 0 rows",), id="O-F05-empty"),
        pytest.param(b'{"id":"a","request":"q","response":""}\n', ("rows.jsonl:1: response",), id="empty-field"),
    ],
)  # fmt: skip
def test_rows_that_cannot_be_graded(tmp_path: Path, server: FakeServer, data: bytes, says: tuple[str, ...]) -> None:
    runs = Runs(tmp_path, server)
    runs.data.write_bytes(data)
    ended = grade(runs)
    message = one_message(ended.err)
    assert (ended.code, ended.out) == (2, b"")
    for part in says:
        assert part in message
    assert (server.requests, server.connections) == ([], 0)
    assert not (tmp_path / "R").exists()


@pytest.mark.parametrize("what", ["rubric-key", "config-key", "unreachable", "unknown-judge", "flag", "map"])
def test_what_else_cannot_be_used(tmp_path: Path, server: FakeServer, what: str) -> None:
    runs = Runs(tmp_path, server)
    more, says = (), "joint.yaml:4: colour"
    if what == "rubric-key":
        runs.rubric.write_text(runs.rubric.read_text().replace("calls:", "colour: red\ncalls:"), encoding="utf-8")
    elif what == "config-key":
        (tmp_path / "anvil.yaml").write_text("repeats: 1\nrepeets: 2\n", encoding="utf-8")
        says = "anvil.yaml:2: repeets"
    elif what == "unreachable":
        port = unused_port()
        runs.judge, says = f"compat:m@http://127.0.0.1:{port}/v1", f"127.0.0.1:{port} cannot be reached"
    elif what == "unknown-judge":
        runs.judge, says = "opnai:gpt-4", "openai"
    elif what == "flag":
        more, says = ("--repeats", "0"), "--repeats"
    else:
        more, says = ("--map", "response=output.text"), "rows.jsonl:1: response (output.text)"
    ended = grade(runs, *more)
    assert ended.code == 2
    assert says in one_message(ended.err)
    assert server.requests == []
    assert not (tmp_path / "R").exists()


def test_o_f03_a_wrong_key_is_told_after_the_first_calls(tmp_path: Path) -> None:
    with FakeServer(error(401, "Incorrect API key provided", code="invalid_api_key")) as server:
        ended = grade(Runs(tmp_path, server, *rows(24)), COMPAT_API_KEY="CANARY-0000")
    assert ended.code == 2
    assert "not authorised" in one_message(ended.err)
    assert "CANARY" not in ended.err
    assert 1 <= len(server.requests) <= 16
    assert not (tmp_path / "R").exists()


def test_o_h01_a_key_gets_nowhere_but_into_its_header(tmp_path: Path) -> None:
    key = "CANARY-5f2b9c"

    def echo(request: Recorded) -> Answer:
        """Show the key in the verdict, in headers and in errors, as a careless proxy would."""
        sent = request.headers["authorization"]
        if request.index == 0:
            return error(500, f"upstream said no to {sent}", headers={"Retry-After": "0", "X-Debug": sent})
        if "What is 1 " in request.json["messages"][1]["content"]:
            return error(400, f"blocked: {sent}", code="content_filter")
        scores = {name: {**part, "reason": f"I saw {sent}"} for name, part in verdict(4).items()}
        body = chat_body(None) | {"id": sent, "model": f"m {sent}"}
        body["choices"][0]["message"]["content"] = json.dumps(scores)
        return answer_json(body, headers={"X-Request-Id": sent})

    with FakeServer(echo) as server:
        runs = Runs(tmp_path, server)
        ended = grade(runs, "--api-key-env", "MY_KEY", MY_KEY=key)
        assert ended.code == 3
        assert all(request.headers["authorization"] == f"Bearer {key}" for request in server.requests)
    assert key not in ended.err
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {"journal.jsonl", "manifest.json", "scores.csv", "junit.xml"} <= {path.name for path in written}
    assert any(path.suffix == ".sqlite" for path in written)
    assert [path for path in written if key.encode() in path.read_bytes()] == []


@pytest.mark.parametrize("place", ["user", "query", "proxy"])
def test_o_h02_credentials_in_addresses_are_not_repeated(tmp_path: Path, server: FakeServer, place: str) -> None:
    runs = Runs(tmp_path, server)
    environ = {}
    if place == "user":
        runs.judge = server.url.replace("http://", "compat:m@http://u:CANARY-2@")
    elif place == "query":
        runs.judge = f"compat:m@{server.url}?token=CANARY-3"
    else:
        runs.judge = "compat:m@https://judge.invalid/v1"
        environ = {"HTTPS_PROXY": f"http://u:CANARY-4@127.0.0.1:{unused_port()}"}
    ended = grade(runs, **environ)
    assert ended.code == 2
    assert "CANARY" not in one_message(ended.err)
    assert server.requests == []
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and b"CANARY" in path.read_bytes()]


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_o_f16_an_old_console_gets_what_it_can_show(tmp_path: Path, encoding: str) -> None:
    def answer(request: Recorded) -> Answer:
        return graded(request, 2)

    row = {"id": "naïve ✓ \x1b[31mred", "request": "Grüße ✓?", "response": "the “naïve” ✓"}
    with FakeServer(answer) as server:
        runs = Runs(tmp_path, server, row)
        usual = ("-m", "agentanvil", "grade", runs.data, "--rubric", runs.rubric, "--judge", runs.judge, "--out", "R")
        done = subprocess.run(
            [sys.executable, *map(str, usual)],
            cwd=tmp_path,
            env={"PYTHONPATH": str(ROOT), "HOME": str(tmp_path), "PYTHONIOENCODING": encoding, "COLUMNS": "120"},
            capture_output=True,
            check=False,
        )
    assert done.returncode == 0
    assert b"reports in R" in done.stderr
    assert b"\x1b" not in done.stderr
    assert "naïve ✓ \x1b[31mred" in (tmp_path / "R" / "items.csv").read_text(encoding="utf-8")


@pytest.mark.parametrize("closed", ["stdout", "stderr"])
def test_a_reader_that_goes_away_changes_nothing(tmp_path: Path, closed: str) -> None:
    with FakeServer(lambda request: graded(request, 2)) as server:
        runs = Runs(tmp_path, server)
        with runs.rubric.open("a", encoding="utf-8") as file:
            file.write("gate: {overall: 2}\n")
        usual = ("grade", runs.data, "--rubric", runs.rubric, "--judge", runs.judge, "--out", "R")
        with begun(*usual, "--format", "json" if closed == "stdout" else "table", cwd=tmp_path) as process:
            gone, read = (process.stdout, process.stderr)[:: 1 if closed == "stdout" else -1]
            assert gone is not None
            assert read is not None
            gone.close()
            said = read.read()
            assert process.wait(60) == 0
    assert b"Error" not in said
    assert (tmp_path / "R" / "summary.json").exists()
