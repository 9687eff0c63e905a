"""The shape of the project: every room has tests, and every registry is whole."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from agentanvil.checks import CHECKS
from agentanvil.cli.app import VERBS
from agentanvil.client.providers import providers
from agentanvil.dataset.files import READERS
from agentanvil.dataset.opening import KINDS
from agentanvil.runner.exits import Exit
from agentanvil.verdict import STATES, Cell

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "agentanvil"
ROOMS = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_has_a_mirror_in_the_tests(room: str) -> None:
    assert list((ROOT / "tests" / room).glob("test_*.py"))


def test_every_test_folder_mirrors_a_room() -> None:
    folders = {path.parent.name for path in (ROOT / "tests").glob("*/test_*.py")}
    assert folders == set(ROOMS)


def test_every_test_module_is_collected() -> None:
    found = [path for path in (ROOT / "tests").rglob("*.py") if "def test_" in path.read_text(encoding="utf-8")]
    assert [path for path in found if not path.name.startswith("test_")] == []


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_a_module_with_a_command_of_its_name(verb: str) -> None:
    module = importlib.import_module(f"agentanvil.cli.{verb}")
    commands = module.app.registered_commands
    assert verb in {"batch", "cache"} or [command.name for command in commands] == [verb]
    assert VERBS[verb].endswith(".")


def test_exit_codes_are_unique_and_told_in_the_help() -> None:
    codes = [int(code) for code in Exit.__members__.values()]
    assert len(set(codes)) == len(codes)
    text = " ".join((PACKAGE / "cli" / "app.py").read_text(encoding="utf-8").split())
    told = text[text.index("Exit codes:") :]
    assert [code for code in codes if not re.search(rf"\b{code}\b", told)] == []


def test_states_are_those_of_the_cells() -> None:
    assert {cell.state for cell in Cell.__args__} == set(STATES)  # type: ignore[attr-defined]


def test_every_check_that_a_rubric_may_ask_for_is_there() -> None:
    models = "".join(path.read_text(encoding="utf-8") for path in (PACKAGE / "rubric").glob("wire_*checks.py"))
    declared = re.findall(r'type: Literal\["(\w+)"\]', models)
    assert sorted(declared) == sorted(CHECKS)


def test_every_ending_has_a_reader_and_every_provider_a_way_to_be_opened() -> None:
    assert set(KINDS.values()) == set(READERS)
    stack = (PACKAGE / "runner" / "stack.py").read_text(encoding="utf-8")
    for provider, rules in providers().items():
        assert rules.adapter is not None or f'"{provider}"' in stack
