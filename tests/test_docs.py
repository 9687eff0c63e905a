"""The README and the other pages must not name a command, option, file or target that does not exist."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import typer

from agentanvil.cli.app import VERBS, app
from agentanvil.report import ITEM_COLUMNS, SCORE_COLUMNS
from agentanvil.rubric import parse_rubric
from agentanvil.runner.config import ConfigWire
from agentanvil.runner.exits import Exit

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = sorted({*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("[a-z]*/README.md")})
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")


def commands() -> dict[str, Any]:
    """Return every command by its words, such as `cache stats`."""
    group = typer.main.get_command(app)
    context = typer.Context(group)
    found: dict[str, Any] = {}
    for verb in VERBS:
        command = group.get_command(context, verb)
        found[verb] = command
        for name, child in getattr(command, "commands", {}).items():
            found[f"{verb} {name}"] = child
    return found


def options(command: Any) -> set[str]:
    return {word for parameter in command.params for word in (*parameter.opts, *parameter.secondary_opts)}


COMMANDS = commands()
EVERY_OPTION = {option for command in COMMANDS.values() for option in options(command)} | {
    "--version",
    "--help",
    "--install-completion",
    "--show-completion",
}
FOREIGN_OPTIONS = {"--snapshot-update"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_option_on_a_page_is_real(page: Path) -> None:
    named = set(OPTION.findall(page.read_text(encoding="utf-8"))) - FOREIGN_OPTIONS
    assert named <= EVERY_OPTION


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_anvil_command_line_on_a_page_is_real(page: Path) -> None:
    for line in re.findall(r"\banvil ([a-z]+(?: [a-z]+)?[^\n`|]*)", page.read_text(encoding="utf-8")):
        words = line.split()
        if words[0] not in VERBS:  # a sentence about anvil
            continue
        command = COMMANDS.get(" ".join(words[:2])) or COMMANDS[words[0]]
        assert set(OPTION.findall(line)) <= options(command), line


@pytest.mark.parametrize("verb", VERBS)
def test_the_readme_has_a_row_for_every_command(verb: str) -> None:
    assert f"| `anvil {verb}" in README


@pytest.mark.parametrize("option", sorted(options(COMMANDS["grade"]) - {"--quiet", "-q", "--seed", "--temperature"}))
def test_every_command_has_help_for_its_options(option: str) -> None:
    parameter = next(p for p in COMMANDS["grade"].params if option in p.opts)
    assert parameter.help


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_file_that_a_page_links_to_is_there(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        assert target.startswith("http") or (page.parent / target).exists(), target


def test_every_make_target_on_a_page_is_real() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        named = set(re.findall(r"`make ([a-z-]+)`|^make ([a-z-]+)", text, re.MULTILINE))
        assert {name for pair in named for name in pair if name} <= targets


def test_the_readme_tells_every_exit_code() -> None:
    assert {int(code) for code in re.findall(r"^\| (\d+) \|", README, re.MULTILINE)} == {int(code) for code in Exit}


def test_the_readme_names_the_columns() -> None:
    assert ", ".join(SCORE_COLUMNS) in README
    assert ", ".join(ITEM_COLUMNS) in README


def test_the_rubric_in_the_readme_loads() -> None:
    (text,) = re.findall(r"```yaml\n(version: 1\n.*?)```", README, re.DOTALL)
    assert [d.id for d in parse_rubric(text).dimensions] == ["faithfulness", "names_ticket"]


def test_the_anvil_yaml_in_the_readme_has_real_keys() -> None:
    (text,) = re.findall(r"```yaml\n(judge: .*?)```", README, re.DOTALL)
    assert set(re.findall(r"^(\w+):", text, re.MULTILINE)) <= set(ConfigWire.model_fields)


def test_no_page_or_lock_file_names_an_address_of_this_machine_or_an_index() -> None:
    for path in (*PAGES, ROOT / "constraints.txt", ROOT / "Makefile", ROOT / "pyproject.toml"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"/home/|/root/|/work/|/tmp/|index-url|/simple/", text), path.name
