from __future__ import annotations

import os
from collections import Counter
from itertools import product
from pathlib import Path
from typing import get_args

import pytest

from agentanvil.checks import CheckRunner
from agentanvil.dataset import Asked, open_dataset
from agentanvil.errors import UsageError
from agentanvil.plan import Plan, plan_calls
from agentanvil.rubric import Mode, lint_rubric, load_rubric
from agentanvil.runner.config import load_config
from agentanvil.runner.init import STARTER, InitSettings, init
from agentanvil.runner.starters import domains
from agentanvil.verdict import Scored


def test_the_rubric_lints_clean_and_the_rows_fit_it(tmp_path: Path) -> None:
    assert init(tmp_path / "new" / "folder", InitSettings()).files == STARTER
    folder = tmp_path / "new" / "folder"
    rubric = load_rubric(folder / "rubric.yaml")
    assert lint_rubric(rubric) == ()
    dataset = open_dataset(folder / "data.jsonl", asked=Asked(needs_source=rubric.needs_source))
    info = dataset.scan()
    assert info.rows == 10
    names = [dimension.id for dimension in rubric.dimensions]
    assert info.labelled == dict.fromkeys(names, 10)
    for name in names[:2]:
        grades = Counter(row.labels[name] for row in dataset.rows())
        assert grades.keys() == {(5.0,), (3.0,), (1.0,)}


def test_the_grades_of_what_code_decides_are_those_that_code_gives(tmp_path: Path) -> None:
    init(tmp_path, InitSettings())
    rubric = load_rubric(tmp_path / "rubric.yaml")
    rows = open_dataset(tmp_path / "data.jsonl").rows()
    checks = CheckRunner(rubric)
    for task in Plan(plan_calls(rubric), 1, "-").tasks(rows):
        if not task.call.judged:
            cell = checks.run(task).cells["short"]
            assert isinstance(cell, Scored)
            assert task.row.labels["short"] == (cell.score,), task.row.id


@pytest.mark.parametrize(
    "judge",
    [
        None,
        "local",
        "openai:gpt-6-luna",
        "compat:a'b\"c:d#e@http://127.0.0.1:8000/v1",
        "compat:ä\\x@https://h.example/v1",
    ],
)
def test_the_config_loads_and_names_the_judge(tmp_path: Path, judge: str | None) -> None:
    assert init(tmp_path, InitSettings(judge=judge)).judge == (judge or "local")
    values = load_config(tmp_path / "anvil.yaml").values
    assert values == {"rubric": "rubric.yaml", "judge": judge or "local", "repeats": 1}


def test_the_settings_that_are_commented_out_are_valid_too(tmp_path: Path) -> None:
    init(tmp_path, InitSettings())
    path = tmp_path / "anvil.yaml"
    lines = path.read_text(encoding="utf-8").splitlines()
    offered = [
        line.removeprefix("# ") for line in lines if line.startswith(("# rpm", "# tpm", "# max_", "# prices", "#   "))
    ]
    assert len(offered) == 6
    path.write_text("\n".join([line for line in lines if not line.startswith("#")] + offered), encoding="utf-8")
    config = load_config(path)
    assert config.values["max_cost"] == 5.0
    assert config.prices.find("MODEL") is not None
    rubric = tmp_path / "rubric.yaml"
    rubric.write_text(rubric.read_text(encoding="utf-8").replace("# gate:", "gate:"), encoding="utf-8")
    assert load_rubric(rubric).gate == {"overall": 3, "correct": 5}


def test_nothing_is_overwritten_unless_forced_and_then_nothing_is_left_of_it(tmp_path: Path) -> None:
    for name in ("anvil.yaml", "data.jsonl"):
        (tmp_path / name).write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match=r"already there: data\.jsonl, anvil\.yaml"):
        init(tmp_path, InitSettings())
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["anvil.yaml", "data.jsonl"]
    assert (tmp_path / "anvil.yaml").read_text(encoding="utf-8") == "mine"
    init(tmp_path, InitSettings(force=True))
    assert "mine" not in {path.read_text(encoding="utf-8") for path in tmp_path.iterdir()}


def test_a_judge_that_is_none_and_a_folder_that_is_none_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="provider"):
        init(tmp_path / "a", InitSettings(judge="opnai:gpt"))
    assert not (tmp_path / "a").exists()
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(UsageError, match="cannot be written"):
        init(tmp_path / "file", InitSettings())


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such bits")
def test_the_ci_step_is_executable(tmp_path: Path) -> None:
    init(tmp_path, InitSettings())
    assert os.access(tmp_path / "ci-anvil.sh", os.X_OK)
    assert not os.access(tmp_path / "rubric.yaml", os.X_OK)


EVERY = list(product(get_args(Mode), domains()))


@pytest.mark.parametrize(("mode", "domain"), EVERY)
def test_every_mode_and_domain_lints_clean_and_its_rows_fit(tmp_path: Path, mode: Mode, domain: str) -> None:
    init(tmp_path, InitSettings(mode=mode, domain=domain))
    rubric = load_rubric(tmp_path / "rubric.yaml")
    assert rubric.mode == mode
    assert lint_rubric(rubric) == ()
    asked = Asked(rubric.needs_source, pairs=mode == "pairwise", booleans=mode == "gate")
    dataset = open_dataset(tmp_path / "data.jsonl", asked=asked)
    info = dataset.scan()
    assert info.rows == 10
    assert info.hidden_fields == ()
    if mode == "pairwise":
        winners = Counter(row.labels["winner"] for row in dataset.rows())
        assert min(winners[(1.0,)], winners[(-1.0,)]) >= 3
    else:
        judged = {dimension.id for dimension in rubric.judged}
        assert judged <= set(info.labelled) <= {dimension.id for dimension in rubric.dimensions}
    if mode == "gate":
        assert rubric.gate


@pytest.mark.parametrize("changes", [{"mode": "pairwize"}, {"domain": "poetry"}])
def test_what_there_is_not_is_refused_with_what_there_is(changes: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="is one of"):
        InitSettings(**changes)  # type: ignore[arg-type]
