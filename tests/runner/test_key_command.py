"""A key that a command prints: found once, sent in a header, and shown nowhere."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentanvil.errors import AnvilError, ConfigError, JudgeSetupError, UsageError
from agentanvil.runner.key_command import key_from
from tests.fakes.command import anvil
from tests.fakes.runs import Runs
from tests.fakes.server import FakeServer
from tests.fakes.verdicts import graded

CANARY = "canary-0123456789"


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(graded) as server:
        yield server


def command(code: str) -> str:
    return shlex.join([sys.executable, "-c", code])


def test_the_key_goes_into_a_header_and_into_no_file(tmp_path: Path, server: FakeServer) -> None:
    runs = Runs(tmp_path, server)
    printing = command(f"print({CANARY!r})")
    done = anvil(
        *("grade", runs.data, "--rubric", runs.rubric, "--judge", runs.judge, "--out", "run"),
        *("--cache", "cache", "--api-key-command", printing),
        cwd=tmp_path,
    )
    assert done.code == 0, done.err
    assert {request.headers["authorization"] for request in server.requests} == {f"Bearer {CANARY}"}
    written = [path for path in (*tmp_path.glob("run/*"), *tmp_path.glob("cache*")) if path.is_file()]
    assert len(written) >= 7
    assert not any(CANARY.encode() in path.read_bytes() for path in written)
    assert CANARY not in done.err


def test_blanks_around_the_key_do_not_count() -> None:
    assert key_from(command("print('  k-1\\n')"), {}).reveal() == "k-1"


def test_the_command_sees_the_environment() -> None:
    assert key_from(command("import os; print(os.environ['WHERE'])"), {"WHERE": "vault-7"}).reveal() == "vault-7"


@pytest.mark.parametrize(
    ("given", "kind", "said"),
    [
        (command("raise SystemExit(3)"), JudgeSetupError, "failed with exit code 3"),
        (command("pass"), JudgeSetupError, "printed nothing"),
        (command("print('a\\nb')"), ConfigError, "cannot be sent"),
        ("/nowhere/at/all", JudgeSetupError, "cannot be run"),
        ("'unclosed", UsageError, "cannot be read"),
        ("  ", UsageError, "names no command"),
    ],
)
def test_what_gives_no_key_is_one_message(given: str, kind: type[AnvilError], said: str) -> None:
    with pytest.raises(kind) as caught:
        key_from(given, {})
    assert said in str(caught.value)
