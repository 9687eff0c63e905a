from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer

import agentanvil.cli
from agentanvil import __version__
from agentanvil.cli.app import VERBS, app
from tests.fakes.command import ROOT, Ended, anvil, run_python
from tests.fakes.verdicts import small_rubric

HEAVY = ("pandas", "numpy", "httpx", "aiohttp", "pydantic", "rich", "tqdm", "jsonschema_rs", "sqlite3")


def framed(body: str, cwd: Path, **environ: str) -> Ended:
    """Run `main` around a command that is made of these lines of Python."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    script = f"import sys\nfrom agentanvil.cli.main import main\ndef command():\n{lines}\nmain(command)\n"
    return run_python("-c", script, cwd=cwd, environ=environ)


def test_help_lists_every_verb_with_its_line(tmp_path: Path) -> None:
    found = anvil("--help", cwd=tmp_path)
    assert (found.code, found.err) == (0, "")
    lines = [line.split(maxsplit=1) for line in found.out.decode("utf-8").splitlines()]
    assert [(name, line) for name, line in (pair for pair in lines if len(pair) == 2) if name in VERBS] == list(
        VERBS.items()
    )


def test_every_verb_has_its_file_and_every_verb_file_is_in_the_table() -> None:
    folder = Path(agentanvil.cli.__path__[0])
    files = {path.stem for path in folder.glob("*.py") if '@app.command("' in path.read_text(encoding="utf-8")}
    assert files == VERBS.keys()


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_says_what_it_does_and_what_each_option_is_for(verb: str) -> None:
    group = typer.main.get_command(app)
    context = typer.Context(group)
    command = group.get_command(context, verb)  # type: ignore[attr-defined]
    parts = [command, *getattr(command, "commands", {}).values()]
    for part in parts:
        assert part.help, part.name
        assert [p.name for p in part.params if p.param_type_name == "option" and not p.help] == []
        assert len(part.get_help(typer.Context(part)).splitlines()) > 3


@pytest.mark.parametrize(("error", "code"), [("RunFolderError", 2), ("JudgeSetupError", 2), ("RunWriteError", 3)])
def test_what_can_be_resumed_is_told_from_what_must_be_mended(error: str, code: int, tmp_path: Path) -> None:
    found = framed(f"from agentanvil.errors import {error}\nraise {error}('so it is', hint='do this')", tmp_path)
    assert (found.code, found.err) == (code, "error: so it is\n  do this\n")


def test_the_overview_loads_no_verb_and_nothing_heavy(tmp_path: Path) -> None:
    script = """
import sys
sys.argv = ["anvil", "--help"]
from agentanvil.cli.main import main
try:
    main()
finally:
    print(*sys.modules, file=sys.stderr)
"""
    found = run_python("-c", script, cwd=tmp_path)
    assert found.code == 0
    loaded = set(found.err.split())
    assert "agentanvil.cli.app" in loaded
    assert loaded.isdisjoint(HEAVY)
    assert loaded.isdisjoint(f"agentanvil.cli.{verb}" for verb in VERBS)
    assert not [name for name in loaded if name.startswith("agentanvil.runner")]


def test_the_version_alone(tmp_path: Path) -> None:
    found = anvil("--version", cwd=tmp_path)
    assert (found.code, found.out.decode("utf-8").strip()) == (0, f"anvil {__version__}")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["grad"], "No such command 'grad'"),
        (["--colour"], "No such option"),
        (["lint", "--strikt", "x.yaml"], "--strikt"),
        (["lint"], "Missing argument"),
        (["grade", "x.jsonl", "--limit", "two"], "Invalid value for '--limit'"),
        (["lint", "x.yaml", "--format", "xml"], "--format is one of text, json, not 'xml'"),
        ([], "[OPTIONS] COMMAND [ARGS]"),
    ],
)
def test_a_command_line_that_cannot_be_meant_exits_2(tmp_path: Path, arguments: list[str], said: str) -> None:
    found = anvil(*arguments, cwd=tmp_path)
    assert found.code == 2
    assert said in found.out.decode("utf-8") + found.err
    assert "Traceback" not in found.err


def test_an_error_of_ours_is_one_message_with_place_and_advice(tmp_path: Path) -> None:
    body = """
from agentanvil.errors import RubricError, Where
raise RubricError("the anchor is missing", where=Where("r.yaml", 7, "anchors"), hint="Add it.")
"""
    found = framed(body, tmp_path)
    assert (found.code, found.out) == (2, b"")
    assert found.err.splitlines() == ["error: r.yaml:7: anchors: the anchor is missing", "  Add it."]


def test_a_bug_leaves_a_report_without_data_or_keys_and_exits_5(tmp_path: Path) -> None:
    body = """
import os
row, key = "a row of mine", os.environ["OPENAI_API_KEY"]
try:
    {}[row]
except KeyError as error:
    raise ValueError(row + key) from error
"""
    found = framed(body, tmp_path, OPENAI_API_KEY="sk-secret-0123456789")
    assert (found.code, found.out) == (5, b"")
    (report,) = tmp_path.glob("anvil-crash-*.txt")
    assert str(report) in found.err
    assert "ValueError" in found.err
    text = report.read_text(encoding="utf-8")
    assert f"anvil {__version__}" in text
    assert "main.py" in text
    assert "ValueError" in text
    for written in (text, found.err):
        assert "a row of mine" not in written
        assert "sk-secret" not in written
    assert "Traceback" not in found.err


def test_ctrl_c_exits_130(tmp_path: Path) -> None:
    found = framed("raise KeyboardInterrupt", tmp_path)
    assert (found.code, found.err) == (130, "interrupted\n")
    in_a_verb = """
import typer
app = typer.Typer()
@app.command()
def verb(): raise KeyboardInterrupt
sys.argv = ["anvil"]
app()
"""
    assert framed(in_a_verb, tmp_path).code == 130


@pytest.mark.parametrize(("arguments", "code"), [(["show"], 0), (["lint", "--strict", "--format", "json"], 1)])
def test_a_reader_that_goes_away_changes_no_exit_code(tmp_path: Path, arguments: list[str], code: int) -> None:
    rubric = small_rubric(tmp_path)
    rubric.write_text(f"{rubric.read_text(encoding='utf-8')}evidence: none\n", encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "agentanvil", *arguments, rubric],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "HOME": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.close()
    _, err = process.communicate(timeout=120)
    assert process.returncode == code
    assert b"error" not in err
    assert b"BrokenPipe" not in err


@pytest.mark.skipif(shutil.which("sh") is None, reason="closes streams with a shell")
def test_closed_standard_streams_are_no_bug(tmp_path: Path) -> None:
    command = f'exec "{sys.executable}" -m agentanvil show "{small_rubric(tmp_path)}" <&- >&- 2>&-'
    environ = {"PYTHONPATH": str(ROOT), "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, env=environ, timeout=120, check=False)
    assert done.returncode == 0
    assert not list(tmp_path.glob("anvil-crash-*"))
