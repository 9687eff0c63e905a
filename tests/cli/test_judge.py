from __future__ import annotations

import json
from pathlib import Path

from tests.fakes.command import anvil
from tests.fakes.decision_servers import systemone
from tests.fakes.server import FakeServer, chat, unused_port
from tests.fakes.verdicts import graded, refusing


def test_a_person_gets_one_screen_and_a_program_gets_json(tmp_path: Path) -> None:
    with FakeServer(refusing("temperature")) as server:
        table = anvil("judge", f"compat:m@{server.url}", cwd=tmp_path)
        found = anvil("judge", f"compat:m@{server.url}", "--format", "json", cwd=tmp_path)
    assert (table.code, table.out) == (0, b"")
    assert len(table.err.splitlines()) <= 24
    for said in ("a strict JSON schema", "temperature", "fake-judge-1", "unknown (give prices in anvil.yaml)"):
        assert said in table.err
    assert (found.code, found.err) == (0, "")
    assert json.loads(found.out)["dropped"] == ["temperature"]


def test_the_judge_of_the_config_is_the_default(tmp_path: Path) -> None:
    with FakeServer(graded) as server:
        config = f"judge: compat:m@{server.url}\nmax_cost: 1\nprices: {{m: {{input: 2, output: 8}}}}\n"
        (tmp_path / "anvil.yaml").write_text(config, encoding="utf-8")
        found = anvil("judge", cwd=tmp_path)
    assert found.code == 0, found.err
    assert "$2 in, $8 out" in found.err


def test_a_judge_that_cannot_grade_exits_2_with_one_message(tmp_path: Path) -> None:
    with FakeServer(chat("four, I think")) as server:
        found = anvil("judge", f"compat:m@{server.url}", cwd=tmp_path)
    assert (found.code, found.out) == (2, b"")
    assert found.err.count("error:") == 1
    gone = anvil("judge", f"compat:m@http://127.0.0.1:{unused_port()}/v1", "--format", "json", cwd=tmp_path)
    assert (gone.code, gone.out) == (2, b"")
    assert "cannot be reached" in gone.err


def test_a_recording_is_counted(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text('{"id": "a", "reply": "{}"}\n', encoding="utf-8")
    found = anvil("judge", "recorded:r.jsonl", cwd=tmp_path)
    assert found.code == 0
    assert "1 recorded" in found.err


def test_a_decision_endpoint_is_told_from_a_judge_that_writes(tmp_path: Path) -> None:
    with FakeServer(systemone(lambda _: {"answered": (0.0, 0.1, 0.9)})) as server:
        found = anvil("judge", f"systemone:m@{server.url}", cwd=tmp_path)
    assert found.code == 0, found.err
    assert "typed questions, answered with probabilities and without evidence" in " ".join(found.err.split())
    assert "verdict read in 2 of 2" in found.err
    for of_text in ("schema", "output cap", "log-probabilities", "hidden reasoning"):
        assert of_text not in found.err
