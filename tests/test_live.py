"""The installed command with the local judge as it is: a real llama.cpp server and a real model.

The small model is enough to show that all works. Where this processor cannot run it with the llama-server that is
here, the default one stands in, and that is said. Models are fetched as a user's first run fetches them, into the
user's own cache.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from platformdirs import user_cache_path

from agentanvil.client.local import MODELS, LocalServer, ServerSettings, find_server
from tests.fakes.command import ROOT, Ended
from tests.fakes.runs import read_table

pytestmark = pytest.mark.live
FETCHING_S = 1800
GRADING_S = 600
ROWS = 3
READ_ROWS = 12
READ_RUBRIC = """\
version: 1
id: read
scale: {min: 1, max: 5}
evidence: none
dimensions:
  - id: completeness
    question: Is every part of the request answered?
    anchors: {5: no part is missing, 3: exactly one part is missing, 1: two or more parts are missing}
"""


def anvil(*arguments: str | Path, cwd: Path, within_s: float = GRADING_S) -> Ended:
    """Run the command in the caller's own surroundings: home, cache, and the way to the package index."""
    done = subprocess.run(
        [sys.executable, "-m", "agentanvil", *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=within_s,
        check=False,
    )
    return Ended(done.returncode, done.stdout, done.stderr.decode("utf-8"))


@pytest.fixture(scope="module")
def described(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Ended:
    """What `anvil judge` says of the judge that runs here: the small model, else the default one."""
    folder = tmp_path_factory.mktemp("judge")
    said = anvil("judge", "local:small", "--format", "json", cwd=folder, within_s=FETCHING_S)
    if "a processor instruction" in said.err:
        with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
            print("\nthis llama-server cannot run the small model on this processor; the default one is used")
        said = anvil("judge", "local:default", "--format", "json", cwd=folder, within_s=FETCHING_S)
    if "there is none here" in said.err:
        pytest.skip(said.err)
    return said


def test_the_judge_is_described(described: Ended) -> None:
    assert described.code == 0, described.err
    report = json.loads(described.out)
    assert report["usable"]
    assert (report["verdicts"], report["schema_kept"], report["rung"]) == (2, 2, "json_schema")
    assert report["same_reply"]
    assert report["logprobs"] == "yes"
    assert report["dropped"] == []
    assert report["usage"]["output_tokens"] > 10
    assert report["price"]["output"] == 0


def test_demo_rows_are_graded_and_not_asked_again(described: Ended, tmp_path: Path) -> None:
    judge = json.loads(described.out)["judge"]
    command = ("grade", ROOT / "datasets" / "demo.jsonl", "--rubric", ROOT / "rubrics" / "calibrated.yaml")
    chosen = (
        *command,
        "--judge",
        judge,
        "--limit",
        str(ROWS),
        "--concurrency",
        "2",
        "--cache",
        tmp_path / "cache.sqlite",
    )
    first = anvil(*chosen, "--out", tmp_path / "first", cwd=tmp_path)
    assert first.code == 0, first.err
    cells = read_table(tmp_path / "first", "scores.csv")
    assert len(cells) == ROWS * 4
    assert {cell["state"] for cell in cells} == {"scored"}, first.err
    assert {cell["score"] for cell in cells} <= {"1", "2", "3", "4", "5"}
    assert sessions(tmp_path / "first")[0]["calls"] >= ROWS
    again = anvil(*chosen, "--out", tmp_path / "second", cwd=tmp_path)
    assert again.code == 0, again.err
    (session,) = sessions(tmp_path / "second")
    assert (session["calls"], session["cache_hits"]) == (0, ROWS)
    assert read_table(tmp_path / "second", "scores.csv") == cells


@pytest.mark.parametrize("judge", ["compat:qwen", "litellm:openai/qwen"])
def test_a_real_server_is_read_by_its_log_probabilities(described: Ended, tmp_path: Path, judge: str) -> None:
    model = user_cache_path("agentanvil") / "models" / MODELS[json.loads(described.out)["judge"].split(":")[1]].file
    rubric = tmp_path / "read.yaml"
    rubric.write_text(READ_RUBRIC, encoding="utf-8")

    async def served() -> tuple[Ended, Ended]:
        settings = ServerSettings(model, slots=2)
        async with LocalServer(find_server(os.environ["PATH"]), settings, os.environ) as server:
            spec = f"{judge}@{server.base_url}"
            grade = ("grade", ROOT / "datasets" / "demo.jsonl", "--rubric", rubric, "--judge", spec)
            chosen = ("--limit", str(READ_ROWS), "--concurrency", "2", "--cache", "off", "--out", tmp_path / "run")
            graded = await asyncio.to_thread(anvil, *grade, *chosen, cwd=tmp_path)
            told = await asyncio.to_thread(anvil, "judge", spec, "--format", "json", cwd=tmp_path)
            return graded, told

    graded, told = asyncio.run(served())
    assert graded.code == 0, graded.err
    cells = read_table(tmp_path / "run", "scores.csv")
    assert len(cells) == READ_ROWS
    assert all(1 <= float(cell["expected_score"]) <= 5 for cell in cells)
    assert all(0 < float(cell["label_mass"]) <= 1 for cell in cells)
    assert all(0 <= float(cell["entropy"]) <= 1 for cell in cells)
    assert told.code == 0, told.err
    report = json.loads(told.out)
    assert (report["rung"], report["logprobs"], report["schema_kept"]) == ("json_schema", "yes", 2)
    assert report["dropped"] == []


def sessions(folder: Path) -> list[dict[str, int]]:
    """The sittings that a run's manifest tells of."""
    found: list[dict[str, int]] = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["sessions"]
    return found
