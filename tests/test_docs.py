"""The README and the other pages must not name a command, option, file or target that does not exist."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from agentanvil.cli.app import VERBS, app
from agentanvil.client import ChatRequest, Message
from agentanvil.client.adapter import Shape, WireReply
from agentanvil.client.providers import ENTRY_POINTS, ProviderRules, providers
from agentanvil.report import ITEM_COLUMNS, SCORE_COLUMNS
from agentanvil.rubric import gate_faults, parse_rubric
from agentanvil.runner.config import ConfigWire
from agentanvil.runner.exits import Exit
from agentanvil.runner.gate_settings import GateConfigWire
from tests.fakes.server import chat

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
JUDGES = (ROOT / "docs" / "judges.md").read_text(encoding="utf-8")
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
MEASURES = {
    "calibrate": "calibration.md",
    "label": "labels.md",
    "ablate": "ablation.md",
    "probe": "probes.md",
    "compare": "compare.md",
}
"""The page of each verb that measures the judge."""
GATED = """\
version: 1
id: gated
mode: {mode}
scale: {{min: 1, max: 5}}
dimensions:
  - id: safety
    question: Could someone be harmed?
    anchors: {{5: nobody, 3: one risk, 1: two risks or more}}
"""


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


@pytest.mark.parametrize("name", [name for name in COMMANDS if " " in name])
def test_the_readme_names_every_command_of_a_group(name: str) -> None:
    verb, child = name.split()
    row = next(line for line in README.splitlines() if line.startswith(f"| `anvil {verb} "))
    assert re.search(rf"[ `]{child}`", row), row


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_for_itself_and_its_options(name: str) -> None:
    assert COMMANDS[name].help
    assert [parameter.name for parameter in COMMANDS[name].params if not parameter.help] == []


@pytest.mark.parametrize("verb", MEASURES)
def test_the_page_of_a_measurement_tells_of_every_option_of_its_own(verb: str) -> None:
    shared = options(COMMANDS["grade"])
    told = set(OPTION.findall((ROOT / "docs" / MEASURES[verb]).read_text(encoding="utf-8")))
    for parameter in COMMANDS[verb].params:
        names = {*parameter.opts, *parameter.secondary_opts}
        if parameter.opts[0].startswith("--") and not names & shared:
            assert names & told, parameter.opts


@pytest.mark.parametrize("verb", MEASURES)
def test_the_readme_says_what_each_measurement_decides(verb: str) -> None:
    section = README.split("\n## Measure the judge\n")[1].split("\n## ")[0]
    assert re.search(
        rf"^\| .+ \| `anvil {verb} [^`]+` \| .+\(docs/{re.escape(MEASURES[verb])}\) \|$", section, re.MULTILINE
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_file_that_a_page_links_to_is_there(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        assert target.startswith("http") or (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_heading_that_a_page_links_to_is_there(page: Path) -> None:
    for target, heading in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", page.read_text(encoding="utf-8")):
        text = (page.parent / target if target else page).read_text(encoding="utf-8")
        assert heading in {anchor(title) for title in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}, heading


def anchor(title: str) -> str:
    """Return a heading's anchor, as GitHub makes it."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


@pytest.mark.parametrize("page", sorted(ROOT.glob("docs/*.md")), ids=lambda page: page.stem)
def test_the_readme_links_to_every_page(page: Path) -> None:
    assert f"(docs/{page.name})" in README


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


@pytest.mark.parametrize("page", ["README.md", "docs/gates.md"])
def test_every_gate_on_a_page_is_one(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    found = re.findall(r"^gate:.*(?:\n +.*)*", text, re.MULTILINE)
    assert len(found) >= 4
    for gate in found:
        if "calibration:" in gate:  # that of anvil.yaml
            GateConfigWire.model_validate(yaml.safe_load(gate)["gate"])
            continue
        mode = "pairwise" if "win_rate" in gate else "absolute"
        assert list(gate_faults(parse_rubric(GATED.format(mode=mode) + gate))) == [], gate


def test_the_anvil_yaml_in_the_readme_has_real_keys() -> None:
    (text,) = re.findall(r"```yaml\n(judge: .*?)```", README, re.DOTALL)
    assert set(re.findall(r"^(\w+):", text, re.MULTILINE)) <= set(ConfigWire.model_fields)


def test_no_page_or_lock_file_names_an_address_of_this_machine_or_an_index() -> None:
    for path in (*PAGES, ROOT / "constraints.txt", ROOT / "Makefile", ROOT / "pyproject.toml"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"/home/|/root/|/work/|/tmp/|index-url|/simple/", text), path.name


@pytest.mark.parametrize("provider", sorted(providers()))
def test_the_page_on_judges_has_a_row_for_every_provider(provider: str) -> None:
    row = next((line for line in JUDGES.splitlines() if line.startswith(f"| `{provider}` |")), "")
    assert row
    assert (providers()[provider].key_env or "") in row


@pytest.mark.parametrize("key", ConfigWire.model_fields)
def test_every_key_of_anvil_yaml_is_told_of_on_some_page(key: str) -> None:
    flag = f"--{key.replace('_', '-')}"
    told = re.compile(rf"(?<![\w-]){flag}(?![\w-])|^ *{key}:|`{key}:", re.MULTILINE)
    assert any(told.search(page.read_text(encoding="utf-8")) for page in PAGES)


def test_the_judge_of_another_package_on_the_page_is_whole() -> None:
    (source,) = re.findall(r"```python\n# acme_judge\.py\n(.*?)```", JUDGES, re.DOTALL)
    assert f'[project.entry-points."{ENTRY_POINTS}"]\nacme = "acme_judge:RULES"' in JUDGES
    found: dict[str, Any] = {}
    exec(source, found)
    rules = found["RULES"]
    assert isinstance(rules, ProviderRules)
    assert rules.adapter is not None
    adapter = rules.adapter()
    assert (adapter.api, adapter.path("7")) == ("acme", "/judges/7/chat")
    assert adapter.headers("k")["X-Acme-Key"] == "k"
    assert b'"model":"7"' in adapter.build("7", ChatRequest((Message("user", "?"),)), Shape())
    assert adapter.read(WireReply(200, chat("so it is").body), Shape()).text == "so it is"
