"""`anvil compare` as a person and a build meet it."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from syrupy.assertion import SnapshotAssertion

from agentanvil.aggregate.comparison.tally import Comparison
from agentanvil.cli.compare_tables import print_comparison
from tests.fakes.command import anvil
from tests.fakes.compared_runs import Graded, side_by_side

GOOD = {f"q{n}": (5 - n % 2, 4) for n in range(12)}
BAD = dict.fromkeys(GOOD, (3, 4)) | {"q1": None}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("compare")
    return Graded(folder / "a", GOOD).run(), Graded(folder / "b", BAD, system="another").run()


def shown(comparison: Comparison, *, width: int = 120, asked: bool = True) -> str:
    file = io.StringIO()
    print_comparison(Console(file=file, width=width, color_system=None), comparison, asked=asked)
    return file.getvalue()


def nameless(comparison: Comparison) -> Comparison:
    """The same without what differs between machines."""
    plain = [
        replace(run, run=f"runs/{name}", data=f"{name}.jsonl", judge="compat:m")
        for name, run in (("a", comparison.a), ("b", comparison.b))
    ]
    return replace(comparison, a=plain[0], b=plain[1], regressions=comparison.regressions[:2])


@pytest.mark.parametrize("width", [80, 120])
def test_a_comparison_as_it_is_shown(runs: tuple[Path, Path], snapshot: SnapshotAssertion, width: int) -> None:
    text = shown(nameless(side_by_side(*runs[:1], runs[1]).comparison), width=width)
    assert "\n".join(line.rstrip() for line in text.splitlines()) == snapshot


def test_long_names_fold_and_no_figure_is_cut(runs: tuple[Path, Path]) -> None:
    comparison = side_by_side(*runs).comparison
    name = "whether_every_claim_of_fact_is_supported"
    figures = tuple(
        replace(figure, id=f"{name}_{n}", wins=28_319, ties=47_237, losses=24_444)
        for n, figure in enumerate(comparison.figures)
    )
    text = shown(replace(comparison, figures=figures, regressions=()), width=80)
    tables = text[text.index("Means over") : text.index("tests:")].replace(" … ", " ~ ")
    assert "…" not in tables
    assert "28319/47237/24444" in tables
    assert max(map(len, tables.splitlines())) <= 80


def test_a_brand_stands_over_everything(runs: tuple[Path, Path]) -> None:
    comparison = replace(side_by_side(runs[0], runs[1]).comparison, brand="NOT LIKE WITH LIKE: judge differs: x / y")
    assert shown(comparison).startswith("NOT LIKE WITH LIKE: judge differs: x / y\n")
    assert "REGRESSION" not in shown(comparison, asked=False)


def test_no_text_of_a_judge_or_row_steers_the_terminal(runs: tuple[Path, Path]) -> None:
    comparison = side_by_side(runs[0], runs[1]).comparison
    first = comparison.regressions[0]
    evil = "\x1b[31m[bold]red[/bold] \u202e \x07"
    side = replace(first.a, evidence=(evil,), reason=evil, response=evil, rival_response=evil)
    text = shown(replace(comparison, brand=evil, regressions=(replace(first, id=evil, request=evil, a=side, b=side),)))
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "[bold]red[/bold]" in text


def test_exit_codes_and_streams(runs: tuple[Path, Path], tmp_path: Path) -> None:
    a, b = runs
    plain = anvil("compare", a, b, "--quiet", cwd=tmp_path)
    assert (plain.code, plain.out, plain.err) == (0, b"", "")
    failed = anvil("compare", a, b, "--fail-on", "regression", "--format", "json", "--out", "c.json", cwd=tmp_path)
    assert failed.code == 1
    assert json.loads(failed.out) == json.loads((tmp_path / "c.json").read_bytes())
    assert "accuracy is worse: -1.55 [" in failed.err
    better = anvil("compare", b, a, "--fail-on", "regression", "--min-coverage", "0.9", "--quiet", cwd=tmp_path)
    assert (better.code, better.err) == (0, "")
    loose = anvil("compare", a, b, "--fail-on", "regression", "--margin", "3", "--quiet", cwd=tmp_path)
    assert loose.code == 3
    assert "of A's items have a pair" in loose.err


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--fail-on", "anything"], "--fail-on knows regression"),
        (["--margin", "-1"], "--margin is a drop"),
        (["--margin", "nan"], "--margin is a drop"),
        (["--min-coverage", "1.5"], "--min-coverage is a share"),
        (["--format", "xml"], "--format is one of table, json"),
    ],
)
def test_bad_options_are_refused(runs: tuple[Path, Path], tmp_path: Path, options: list[str], says: str) -> None:
    ended = anvil("compare", *runs, *options, cwd=tmp_path)
    assert ended.code == 2
    assert says in ended.err
