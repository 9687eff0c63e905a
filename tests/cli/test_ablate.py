"""`anvil ablate` as a person and as a program see it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from syrupy.assertion import SnapshotAssertion

from agentanvil.cli.ablate_table import print_ablation
from agentanvil.rubric.variant import Clause
from tests.fakes.ablated import EXCLUDES, RULE, answering, leaky, rows, study, told, truth, write_rubric
from tests.fakes.command import anvil
from tests.fakes.graded import rubric
from tests.fakes.server import FakeServer
from tests.fakes.verdicts import write_rows

INERT = Clause("accuracy.in.1", "in_scope", "figures", (), "accuracy", line=9)
HARM = Clause("rules.1", "rule", f"{RULE}\x1b[31m", (), line=4)
RIGHT = {name: [truth(n, 1)[name] for n in range(40)] for name in ("accuracy", "tone")}
LIFTED = {**RIGHT, "tone": [min(5, score + 1) for score in RIGHT["tone"]]}
LEAKING = {**LIFTED, "accuracy": [min(pair) for pair in zip(*RIGHT.values(), strict=True)]}


@pytest.mark.parametrize("labelled", [True, False])
def test_the_table_puts_the_most_telling_clause_first(
    capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion, labelled: bool
) -> None:
    arms = {INERT: LIFTED, EXCLUDES: LEAKING, HARM: RIGHT}
    found = study(rubric("accuracy", "tone"), LIFTED, arms, RIGHT if labelled else None)
    print_ablation(Console(stderr=True, width=160), told(found, unsaid=[INERT], unmeasured=[HARM]), "study")
    said = "\n".join(line.rstrip() for line in capsys.readouterr().err.splitlines())
    assert "\x1b[31m" not in said
    assert said == snapshot


def test_nothing_is_cut_on_eighty_columns(capsys: pytest.CaptureFixture[str]) -> None:
    long = Clause("built_in.only_what_is_there", "built_in_rule", "Judge only what is there.", ())
    found = study(rubric("accuracy", "tone"), LIFTED, {EXCLUDES: LEAKING, long: RIGHT}, RIGHT)
    print_ablation(Console(stderr=True, width=80), told(found), "study")
    said = capsys.readouterr().err
    assert max(len(line.rstrip()) for line in said.splitlines()) <= 80
    assert "…" not in said.replace(" … ", "")
    assert "built_in.only_what_is_there" in said


def given(folder: Path, *data: dict[str, Any]) -> tuple[str, ...]:
    write_rows(folder, *data)
    return "ablate", "rows.jsonl", "--rubric", write_rubric(folder).name, "--cache", "off"


def test_a_person_gets_a_table_and_a_program_gets_the_report(tmp_path: Path) -> None:
    words = given(tmp_path, *rows(30, 1))
    with FakeServer(answering(leaky(1))) as server:
        words = (*words, "--judge", f"compat:m@{server.url}", "--clause", "accuracy.out", "--no-noise-floor")
        table = anvil(*words, cwd=tmp_path)
        assert len(server.requests) == 90
        found = anvil(*words, "--format", "json", "--quiet", cwd=tmp_path)
        assert len(server.requests) == 90
    assert (table.code, table.out) == (0, b"")
    lines = " ".join(table.err.split())
    assert "2 accuracy.out.1 earns its tokens accuracy" in lines
    assert "report: runs/rows-leaky-ablate/ablation.json" in lines
    assert (found.code, found.err) == (0, "")
    folder = tmp_path / "runs" / "rows-leaky-ablate"
    assert json.loads(found.out) == json.loads((folder / "ablation.json").read_text(encoding="utf-8"))
    assert json.loads(found.out)["noise"] is None


def test_a_dry_run_lists_the_arms_and_leaves_nothing(tmp_path: Path) -> None:
    words = (*given(tmp_path, *rows(4, 1)), "--judge", "compat:m@http://127.0.0.1:1/v1", "--sample", "3", "--dry-run")
    said = anvil(*words, cwd=tmp_path)
    found = anvil(*words, "--format", "json", cwd=tmp_path)
    assert (said.code, found.code) == (0, 0), said.err
    assert "whole rubric: 6 calls" in said.out.decode()
    assert "2 without accuracy.out.1: 3 calls" in said.out.decode()
    assert "all 9 arms: judge calls 30" in said.out.decode()
    arms = json.loads(found.out)["arms"]
    assert [(arm["number"], arm["clause"], arm["calls"]) for arm in arms[:2]] == [(0, None, 6), (1, "accuracy.in.1", 3)]
    assert not (tmp_path / "runs").exists()


def test_defaults_of_the_config_apply_and_a_panel_is_left_at_home(tmp_path: Path) -> None:
    words = given(tmp_path, *rows(4, 1))
    with FakeServer(answering(leaky(1))) as server:
        judges = f"[compat:m@{server.url}, compat:other@{server.url}]"
        config = f"judge: {judges}\nlimit: 2\ncalls: both\nbaseline: runs/old\n"
        (tmp_path / "anvil.yaml").write_text(config, encoding="utf-8")
        found = anvil(*words, "--clause", "4", "--no-noise-floor", cwd=tmp_path)
    assert found.code == 0, found.err
    assert [request.json["model"] for request in server.requests] == ["m"] * 4


def test_a_budget_ends_with_3_and_says_how_to_go_on(tmp_path: Path) -> None:
    with FakeServer(answering(leaky(1))) as server:
        words = (*given(tmp_path, *rows(6, 1)), "--judge", f"compat:m@{server.url}", "--max-calls", "9")
        found = anvil(*words, cwd=tmp_path)
    assert found.code == 3
    assert "nothing is measured before the whole rubric was asked about every row" in found.err
    assert "the same command resumes this ablation" in found.err
