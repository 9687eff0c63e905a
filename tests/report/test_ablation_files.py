"""`ablation.json` and `ablation.csv`: everything is there, nothing is NaN, and no cell runs."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

from agentanvil.aggregate.ablation.tally import Ablation
from agentanvil.report.ablation_files import CSV_COLUMNS, CSV_FILE, JSON_FILE, ablation_json, write_ablation
from agentanvil.rubric.variant import Clause
from tests.fakes.ablated import EXCLUDES, study, told, truth
from tests.fakes.graded import ERROR, rubric

HOSTILE = Clause("accuracy.in.1", "in_scope", '=HYPERLINK("x")\nmore', (), "accuracy")
LOST = Clause("rules.1", "rule", "Be lenient.", ())
RIGHT = {name: [truth(n, 1)[name] for n in range(20)] for name in ("accuracy", "tone")}


def made() -> Ablation:
    lifted = {**RIGHT, "accuracy": [min(5, score + 1) for score in RIGHT["accuracy"]]}
    nothing = {"accuracy": [ERROR] * 20, "tone": [ERROR] * 20}
    return study(rubric("accuracy", "tone"), RIGHT, {EXCLUDES: lifted, HOSTILE: RIGHT, LOST: nothing}, RIGHT)


def constants(value: Any) -> Any:
    raise AssertionError(f"{value} is no JSON")


def test_the_json_holds_every_figure_with_n_interval_and_reason(tmp_path: Path) -> None:
    write_ablation(tmp_path, told(made(), unsaid=[HOSTILE], unmeasured=[LOST]))
    text = (tmp_path / JSON_FILE).read_text(encoding="utf-8")
    report = json.loads(text, parse_constant=constants)
    assert text.endswith("}\n")
    assert (report["format"], report["family"]["tests"], report["items"], report["labelled"]) == (1, 9, 20, True)
    assert report["study"]["complete"] is False
    first, second, lost = report["clauses"]
    assert (first["number"], first["id"], first["judged_by"], first["verdict"]) == (
        1,
        "accuracy.out.1",
        "tone",
        "earns_its_tokens",
    )
    accuracy = first["dimensions"][0]
    assert accuracy["mean"]["interval"]["method"].startswith("cluster bootstrap")
    assert accuracy["mean"]["change"]["n"] == 20
    assert accuracy["kappa"]["p_adjusted"] <= 0.05
    assert first["pairs"][0]["separates"]
    assert second["verdict"] == "no_measurable_effect"
    assert lost["dimensions"][0]["mean"]["change"] == {
        "value": None,
        "n": 0,
        "reason": "no item has a score in both arms",
    }
    assert [clause["number"] for clause in report["unsaid"] + report["unmeasured"]] == [4, 5]


def test_the_csv_has_a_line_for_each_clause_and_dimension_and_nothing_that_runs(tmp_path: Path) -> None:
    write_ablation(tmp_path, told(made()))
    text = (tmp_path / CSV_FILE).read_bytes().decode("utf-8")
    assert "\r" not in text
    lines = list(csv.DictReader(io.StringIO(text)))
    assert tuple(lines[0]) == CSV_COLUMNS
    assert [(line["clause"], line["dimension"], line["about"]) for line in lines[:3]] == [
        ("accuracy.out.1", "accuracy", "true"),
        ("accuracy.out.1", "tone", "false"),
        ("accuracy.out.1", "overall", "false"),
    ]
    assert lines[3]["text"] == """'=HYPERLINK("x") more"""
    assert (lines[0]["kappa_whole"], lines[0]["n"]) == ("1", "20")
    assert (lines[6]["mean_change"], lines[6]["n"], lines[6]["unpaired"]) == ("", "0", "20")


def test_the_same_study_gives_the_same_bytes() -> None:
    assert ablation_json(told(made())) == ablation_json(told(made()))
