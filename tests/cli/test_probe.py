from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.fakes.command import anvil
from tests.fakes.probed import RUBRIC, grading, honest, probed_rows, within
from tests.fakes.server import FakeServer
from tests.fakes.verdicts import write_rows


def given(folder: Path, *rows: dict[str, Any]) -> tuple[str, ...]:
    write_rows(folder, *rows)
    (folder / "probed.yaml").write_text(RUBRIC, encoding="utf-8")
    return "probe", "rows.jsonl", "--rubric", "probed.yaml", "--cache", "off"


def test_a_person_gets_one_table_and_a_program_gets_json(tmp_path: Path) -> None:
    words = given(tmp_path, *probed_rows(16))
    with FakeServer(grading(lambda said, worth, _: within(worth + ("**" in said)))) as server:
        words = (*words, "--judge", f"compat:m@{server.url}", "--only", "format,position")
        table = anvil(*words, cwd=tmp_path)
        asked = len(server.requests)
        found = anvil(*words, "--format", "json", "--quiet", "--fail-on", "bias", cwd=tmp_path)
        assert len(server.requests) == asked
    assert (table.code, table.out) == (0, b"")
    lines = " ".join(table.err.split())
    for said in ("accuracy +1.00 1.00 … 1.00 16", "bias found", "does not apply", "corrected by Holm over the 2 tests"):
        assert said in lines
    assert "report: runs/rows-probed-probe" in lines
    assert (found.code, found.err) == (1, "")
    report = json.loads(found.out)
    assert report == json.loads((tmp_path / "runs/rows-probed-probe/probe.json").read_text(encoding="utf-8"))
    assert report["probes"]["format"] == {"verdict": "bias found", "found": ["accuracy", "coverage"]}
    assert report["correction"] == {"method": "holm", "alpha": 0.05, "tests": 2}


def test_a_dry_run_tells_each_arm_and_sends_nothing(tmp_path: Path) -> None:
    words = given(tmp_path, *probed_rows(4))
    with FakeServer(grading(honest)) as server:
        words = (*words, "--judge", f"compat:m@{server.url}", "--only", "verbosity,repeatability", "--dry-run")
        said = anvil(*words, cwd=tmp_path)
        found = anvil(*words, "--format", "json", cwd=tmp_path)
        assert not server.requests
    assert said.code == 0
    assert "verbosity:\n  rows 4, judge calls 4" in said.out.decode()
    assert "all 2 arms: judge calls 12" in said.out.decode()
    assert [(arm["arm"], arm["calls"]) for arm in json.loads(found.out)["arms"]] == [("base", 8), ("verbosity", 4)]
    assert not (tmp_path / "runs").exists()


def test_rows_from_standard_input_and_defaults_from_the_config(tmp_path: Path) -> None:
    words = given(tmp_path)
    rows = "".join(f"{json.dumps(row)}\n" for row in probed_rows(3))
    with FakeServer(grading(honest)) as server:
        (tmp_path / "anvil.yaml").write_text(f"judge: compat:m@{server.url}\nlimit: 2\n", encoding="utf-8")
        found = anvil(words[0], "-", *words[2:], "--only", "verbosity", cwd=tmp_path, stdin=rows.encode())
    assert found.code == 0, found.err
    assert len(server.requests) == 4
    assert "2 items are too few" in found.err


def test_what_cannot_be_used_exits_2_and_leaves_nothing(tmp_path: Path) -> None:
    words = given(tmp_path, *probed_rows(2))
    for more, told in (((), "no judge given"), (("--only", "length"), "The probes are position")):
        found = anvil(*words, *more, cwd=tmp_path)
        assert (found.code, found.out) == (2, b"")
        assert told in found.err
        assert found.err.count("error:") == 1
    assert not (tmp_path / "runs").exists()
