"""The installed command with a server of its own: however it ends, no server is left."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from tests.fakes.command import anvil, begun, end_of
from tests.fakes.llama import Fake, put_llama, put_model, until
from tests.fakes.runs import Runs, read_table, rows

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the fake server is a script, and Unix signals are sent")


def command(runs: Runs, *more: str) -> tuple[str | Path, ...]:
    usual = ("grade", runs.data, "--rubric", runs.rubric, "--judge", "local", "--out", runs.out)
    return (*usual, "--cache", "off", *more)


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path, "local", *rows(24))


def environ(fake: Fake) -> dict[str, str]:
    return {**fake.environ, "ANVIL_LOCAL_MODEL": str(put_model(fake.folder))}


def test_a_run_and_its_resumption(tmp_path: Path, runs: Runs) -> None:
    fake = put_llama(tmp_path, loading=2)
    done = anvil(*command(runs), cwd=tmp_path, environ=environ(fake))
    assert (done.code, done.out) == (0, b"")
    assert done.err.count("preparing: server") == 1
    assert {item["state"] for item in read_table(runs.out, "items.csv")} == {"scored"}
    assert anvil(*command(runs), cwd=tmp_path, environ=environ(fake)).code == 0
    assert len(fake.starts) == 1
    assert len(fake.asked) == 24
    assert fake.all_gone(0)


def test_a_model_that_is_not_there_is_one_message(tmp_path: Path, runs: Runs) -> None:
    fake = put_llama(tmp_path)
    judge = f"local:{tmp_path / 'none.gguf'}"
    done = anvil(*(judge if word == "local" else word for word in command(runs)), cwd=tmp_path, environ=fake.environ)
    assert (done.code, done.out) == (2, b"")
    assert done.err == (
        f"error: there is no model file {tmp_path / 'none.gguf'}\n"
        "  Give the path of a .gguf file, or one of local:default, local:small.\n"
    )
    assert not runs.out.exists()


def test_a_server_that_does_not_start_is_one_message(tmp_path: Path, runs: Runs) -> None:
    fake = put_llama(tmp_path, says="error: unknown model architecture", exits=1)
    done = anvil(*command(runs), cwd=tmp_path, environ=environ(fake))
    assert (done.code, done.out) == (2, b"")
    assert done.err.splitlines()[-1] == (
        "error: llama-server did not start: it ended with 1; its last lines: error: unknown model architecture"
    )
    assert len(fake.starts) == 1
    assert not runs.out.exists()


def test_it_tells_what_the_local_judge_can_do(tmp_path: Path) -> None:
    fake = put_llama(tmp_path)
    done = anvil("judge", "local", "--format", "json", cwd=tmp_path, environ=environ(fake))
    assert done.code == 0
    report = json.loads(done.out)
    assert (report["usable"], report["verdicts"], report["rung"]) == (True, 2, "json_schema")
    assert fake.all_gone(0)
    shown = anvil("judge", "local", cwd=tmp_path, environ=environ(fake))
    assert shown.code == 0
    assert "the first with the start of its server" in shown.err + shown.out.decode()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_finishes_what_is_in_flight_and_stops_the_server(
    tmp_path: Path, runs: Runs, number: signal.Signals
) -> None:
    fake = put_llama(tmp_path, delay_s=0.3)
    with begun(*command(runs, "--concurrency", "4"), cwd=tmp_path, environ=environ(fake)) as process:
        assert until(lambda: len(fake.asked) >= 6, 60)
        process.send_signal(number)
        ended = end_of(process)
    assert ended.code == 130
    assert "interrupted; the same command resumes this run" in ended.err
    assert fake.all_gone(0)
    states = [item["state"] for item in read_table(runs.out, "items.csv")]
    assert states.count("scored") == len(fake.asked) < 24


@pytest.mark.parametrize("verb", ["grade", "judge"])
def test_an_interrupt_while_the_server_starts_ends_at_once(tmp_path: Path, runs: Runs, verb: str) -> None:
    fake = put_llama(tmp_path, loading=None)
    chosen = command(runs) if verb == "grade" else ("judge", "local")
    with begun(*chosen, cwd=tmp_path, environ=environ(fake)) as process:
        assert until(lambda: bool(fake.starts), 60)
        process.send_signal(signal.SIGINT)
        ended = end_of(process)
    assert ended.code == 130
    assert "Traceback" not in ended.err
    assert fake.asked == []
    assert fake.all_gone(0)


def test_the_second_interrupt_stops_the_server_too(tmp_path: Path, runs: Runs) -> None:
    fake = put_llama(tmp_path, delay_s=60)
    with begun(*command(runs), cwd=tmp_path, environ=environ(fake)) as process:
        assert until(lambda: len(fake.asked) >= 4, 60)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        while b"press Ctrl-C again" not in process.stderr.readline():
            pass
        process.send_signal(signal.SIGINT)
        ended = end_of(process)
    assert ended.code == 130
    assert fake.all_gone(0)


@pytest.mark.skipif(sys.platform != "linux", reason="only there the kernel can be asked for it")
def test_no_server_is_left_when_the_command_is_killed(tmp_path: Path, runs: Runs) -> None:
    fake = put_llama(tmp_path, delay_s=0.1)
    with begun(*command(runs), cwd=tmp_path, environ=environ(fake)) as process:
        assert until(lambda: len(fake.asked) >= 6, 60)
        process.kill()
        process.wait(10)
    assert fake.all_gone(5)
    assert anvil(*command(runs), cwd=tmp_path, environ=environ(fake)).code == 0
    assert {item["state"] for item in read_table(runs.out, "items.csv")} == {"scored"}
