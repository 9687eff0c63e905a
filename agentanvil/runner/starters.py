"""What `anvil init` starts from: the shipped rubrics and their rows, by domain and mode."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import islice
from pathlib import Path

from agentanvil.rubric import OVERALL, Mode, Rubric, parse_rubric

GENERAL = "general"
ROWS = 10
_VERSION = re.compile(r"^version: .*\n", re.MULTILINE)
_MODE = re.compile(r"^mode: .*\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Starter:
    """The rubric of a domain, its rows with one response, and its pairs; names of shipped files without ending."""

    rubric: str
    rows: str
    pairs: str


DOMAINS: Mapping[str, Starter] = {
    "source": Starter("grounded", "grounded_demo", "grounded_pairs"),
    "rag": Starter("rag", "rag_demo", "rag_pairs"),
    "summary": Starter("summary", "summary_demo", "summary_pairs"),
    "support": Starter("support_reply", "support_reply_demo", "support_reply_pairs"),
    "code": Starter("code_review", "code_review_demo", "code_review_pairs"),
    "translation": Starter("translation", "translation_demo", "translation_pairs"),
    "agent": Starter("agent", "agent_demo", "agent_pairs"),
}
"""Every domain but `general`, which has a rubric of its own for each mode."""

_GENERAL: Mapping[Mode, tuple[str, str]] = {
    "pairwise": ("pairwise", "pairwise_demo"),
    "gate": ("gate", "gate_demo"),
}


@dataclass(frozen=True, slots=True)
class StarterFiles:
    """The content of `rubric.yaml` and `data.jsonl`."""

    rubric: str
    data: str


def domains() -> tuple[str, ...]:
    """Return the names of the domains, the default first."""
    return (GENERAL, *DOMAINS)


def starter(mode: Mode, domain: str) -> StarterFiles:
    """Return the rubric of a domain in a mode, and ten rows that fit it. Raises KeyError for an unknown domain."""
    if domain == GENERAL and mode == "absolute":
        folder = files(__package__).joinpath("starter")
        return StarterFiles(_text(folder.joinpath("rubric.yaml")), _text(folder.joinpath("data.jsonl")))
    if domain == GENERAL:
        rubric, data = _GENERAL[mode]
    else:
        chosen = DOMAINS[domain]
        rubric, data = chosen.rubric, chosen.pairs if mode == "pairwise" else chosen.rows
    text = _text(shipped("rubrics").joinpath(f"{rubric}.yaml"))
    rows = _text(shipped("datasets").joinpath(f"{data}.jsonl"))
    return StarterFiles(in_mode(text, mode), "".join(islice(rows.splitlines(keepends=True), ROWS)))


def in_mode(text: str, mode: Mode) -> str:
    """Return a rubric's text with its `mode:` set, and with a gate where a gate needs one."""
    rubric = parse_rubric(text)
    if rubric.mode != mode:
        text = _VERSION.sub(lambda found: f"{found.group()}mode: {mode}\n", _MODE.sub("", text), count=1)
    if mode == "gate" and not rubric.gate:
        text = f"{text.rstrip()}\n{_gate(rubric)}\n"
    return text


def shipped(folder: str) -> Traversable:
    """Return a folder of shipped files: inside an installed package, or beside it in a checkout."""
    inside = files("agentanvil").joinpath("shipped", folder)
    return inside if inside.is_dir() else Path(__file__).resolve().parents[2] / folder


def _gate(rubric: Rubric) -> str:
    """Ask for the step below the top: between two anchors a judge rounds down, so the top anchor must be met."""
    return f"# What an item must reach on every dimension to pass.\ngate: {{{OVERALL}: {rubric.scale.max - 1}}}"


def _text(file: Traversable) -> str:
    return file.read_text(encoding="utf-8")
