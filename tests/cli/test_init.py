from __future__ import annotations

import csv
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fakes.command import ROOT, anvil
from tests.fakes.server import FakeServer
from tests.fakes.verdicts import graded


def test_what_init_writes_runs_by_its_own_defaults(tmp_path: Path) -> None:
    with FakeServer(graded) as server:
        made = anvil("init", "my evals", "--judge", f"compat:m@{server.url}", cwd=tmp_path)
        assert (made.code, made.out) == (0, b"")
        folder = tmp_path / "my evals"
        linted = anvil("lint", "rubric.yaml", "--strict", cwd=folder)
        asked = anvil("grade", "data.jsonl", "--out", "run", cwd=folder)
        assert len(server.requests) == 10
    assert linted.code == 0, linted.err
    assert asked.code == 0, asked.err
    rows = list(csv.DictReader((folder / "run" / "items.csv").read_text(encoding="utf-8").splitlines()))
    assert len(rows) == 10
    assert {row["answered"] for row in rows} == {"4"}
    assert "Judge against human labels" in asked.err


def test_it_tells_what_to_do_next_and_overwrites_nothing(tmp_path: Path) -> None:
    made = anvil("init", cwd=tmp_path)
    assert made.code == 0, made.err
    for said in ("anvil lint rubric.yaml", "anvil judge", "anvil grade data.jsonl", "ci-anvil.sh"):
        assert said in made.err
    again = anvil("init", cwd=tmp_path)
    assert again.code == 2
    assert "rubric.yaml, data.jsonl, anvil.yaml, ci-anvil.sh" in again.err
    assert "--force" in again.err
    assert anvil("init", "--force", cwd=tmp_path).code == 0


@pytest.mark.skipif(shutil.which("sh") is None, reason="a shell script")
def test_the_ci_step_lints_and_grades_wherever_it_is_called_from(tmp_path: Path) -> None:
    shims = tmp_path / "bin"
    shims.mkdir()
    _shim(shims / "python3", 'case "$*" in "-m pip install"*) exit 0;; esac; exit 9')
    _shim(shims / "anvil", f'exec "{sys.executable}" -m agentanvil "$@"')
    environ = {"PATH": f"{shims}:/usr/bin:/bin", "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)}
    with FakeServer(graded) as server:
        anvil("init", "evals", "--judge", f"compat:m@{server.url}", cwd=tmp_path)
        script = tmp_path / "evals" / "ci-anvil.sh"
        passed = subprocess.run([script], cwd=tmp_path, env=environ, capture_output=True, timeout=120, check=False)
        assert passed.returncode == 0, passed.stderr
        assert (tmp_path / "evals" / "anvil-run" / "junit.xml").exists()
        rubric = script.parent / "rubric.yaml"
        rubric.write_text(rubric.read_text(encoding="utf-8").replace("# gate:", "gate:"), encoding="utf-8")
        shutil.rmtree(script.parent / "anvil-run")
        failed = subprocess.run([script], cwd=tmp_path, env=environ, capture_output=True, timeout=120, check=False)
    assert failed.returncode == 1, failed.stderr


def _shim(path: Path, line: str) -> None:
    path.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
    path.chmod(0o755)
