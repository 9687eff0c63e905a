"""`ablation.json` and `ablation.csv`: an ablation study as it is, and its figures clause by clause."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from agentanvil.aggregate import Reading
from agentanvil.aggregate.ablation.tally import (
    ALPHA,
    POWER,
    Ablation,
    Change,
    ClauseEffect,
    ClauseFinding,
    DimensionEffect,
)
from agentanvil.report.atomic import AtomicText
from agentanvil.report.cells import flag_cell, number_cell, text_cell
from agentanvil.rubric import Mode
from agentanvil.rubric.variant import Clause
from agentanvil.stats import Estimate

FORMAT = 1
JSON_FILE, CSV_FILE = "ablation.json", "ablation.csv"
CSV_COLUMNS = (
    *("number", "clause", "kind", "text", "verdict", "dimension", "about", "n", "unpaired"),
    *(f"mean_{name}" for name in ("whole", "without", "change", "low", "high", "p_adjusted")),
    *("changed", "up", "down", "detectable"),
    *(f"kappa_{name}" for name in ("whole", "without", "change", "low", "high", "p_adjusted")),
)


@dataclass(frozen=True, slots=True)
class AblationFacts:
    """What was studied. `sample` is how many rows were drawn, None for all.

    `repeats` are those of one reading, `complete` whether every clause was measured. `arms` has the run folder of each
    arm by the clause's number, 0 for the whole rubric; `cost_usd` is what all of them cost so far.
    """

    rubric_id: str
    rubric_hash: str
    rubric_file: str
    data: str
    sample: int | None
    judge: str
    mode: Mode
    reading: Reading
    prompt_version: str
    repeats: int
    seed: int
    complete: bool
    cost_usd: float | None
    arms: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class AblationReport:
    """A study with what it is about. `measured` are the clauses' numbers in the order of the findings.

    `unsaid` are the clauses that the judge is not told in this mode, `unmeasured` those whose arm is not complete.
    """

    facts: AblationFacts
    ablation: Ablation
    measured: Sequence[int]
    unsaid: Mapping[int, Clause]
    unmeasured: Mapping[int, Clause]


def ablation_json(report: AblationReport) -> bytes:
    """Return the report as indented JSON with a final line end; what is undefined is null with its reason."""
    ablation = report.ablation
    told: dict[str, Any] = {
        "format": FORMAT,
        "study": report.facts,
        "family": {
            "method": "holm",
            "tests": ablation.tests,
            "alpha": ALPHA,
            "of": "every clause: the mean and the agreement with labels of each dimension, and the correlation of the "
            "pair that an exclusion parts",
        },
        "power": POWER,
        "items": ablation.items,
        "labelled": ablation.labelled,
        "clauses": [
            {"number": number, **_finding(finding)}
            for number, finding in zip(report.measured, ablation.findings, strict=True)
        ],
        "noise": None if ablation.noise is None else _effect(ablation.noise, {}),
        "unsaid": [{"number": number, **_clause(clause)} for number, clause in report.unsaid.items()],
        "unmeasured": [{"number": number, **_clause(clause)} for number, clause in report.unmeasured.items()],
    }
    return orjson.dumps(told, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE | orjson.OPT_NON_STR_KEYS)


def write_ablation(folder: Path, report: AblationReport) -> None:
    """Write both files. Raises OSError where the disk refuses them; older ones stay then."""
    drafts = {JSON_FILE: ablation_json(report).decode(), CSV_FILE: _csv(report)}
    files = [AtomicText(folder / name) for name in drafts]
    try:
        for file, text in zip(files, drafts.values(), strict=True):
            file.write(text)
            file.close()
        for file in files:
            file.commit()
    finally:
        for file in files:
            file.discard()


def _finding(finding: ClauseFinding) -> dict[str, Any]:
    return {
        **_clause(finding.clause),
        "verdict": finding.verdict,
        "because": finding.because,
        **_effect(finding.effect, finding.detectable),
    }


def _effect(effect: ClauseEffect, detectable: Mapping[str, Estimate]) -> dict[str, Any]:
    return {
        "dimensions": [
            {**_fields(dimension), "detectable": detectable.get(dimension.id)} for dimension in effect.dimensions
        ],
        "pairs": effect.pairs,
        "decided": effect.decided,
        "input_tokens": effect.input_tokens,
        "output_tokens": effect.output_tokens,
        "cost_usd": effect.cost,
    }


def _clause(clause: Clause) -> dict[str, Any]:
    return {
        "id": clause.id,
        "kind": clause.kind,
        "text": clause.text,
        "dimension": clause.dimension,
        "judged_by": clause.judged_by,
        "line": clause.line,
    }


def _fields(dimension: DimensionEffect) -> dict[str, Any]:
    return {name: getattr(dimension, name) for name in dimension.__dataclass_fields__}


def _csv(report: AblationReport) -> str:
    """Return a line for each clause and dimension. The writer ends lines with LF; no cell holds a line end alone."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(CSV_COLUMNS)
    for number, finding in zip(report.measured, report.ablation.findings, strict=True):
        for dimension in finding.effect.dimensions:
            writer.writerow(_row(number, finding, dimension))
    return text.getvalue().replace("\r\n", "\n")


def _row(number: int, finding: ClauseFinding, dimension: DimensionEffect) -> list[str | float | int]:
    clause, flips = finding.clause, dimension.flips
    return [
        number,
        text_cell(clause.id),
        clause.kind,
        text_cell(" ".join(clause.text.split())),
        finding.verdict,
        dimension.id,
        flag_cell(dimension.about),
        flips.n,
        dimension.unpaired,
        *_change(dimension.mean),
        flips.changed,
        flips.up,
        flips.down,
        number_cell(finding.detectable[dimension.id].value),
        *_change(dimension.kappa),
    ]


def _change(change: Change | None) -> list[str | float | int]:
    if change is None:
        return [""] * 6
    found = (change.whole.value, change.without.value, change.change.value, change.interval.low, change.interval.high)
    return [*map(number_cell, found), number_cell(change.p_adjusted)]
