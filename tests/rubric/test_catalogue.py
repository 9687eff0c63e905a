"""The page about the findings is what the code says, no more and no less."""

from __future__ import annotations

from pathlib import Path

from agentanvil.rubric import CODES
from agentanvil.rubric.catalogue import catalogue, entry
from agentanvil.rubric.codes import GROUPS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "lint.md"


def test_the_page_is_what_the_code_generates() -> None:
    assert PAGE.read_text(encoding="utf-8") == catalogue(), "python -m agentanvil.rubric.catalogue > docs/lint.md"


def test_every_code_belongs_to_a_group_and_stands_on_the_page_once() -> None:
    page = catalogue()
    for name, code in CODES.items():
        assert name[:2] in GROUPS
        assert page.count(f"### {name} {code.title}\n") == 1


def test_an_entry_says_what_why_and_how_to_mend_it() -> None:
    assert entry("R101", CODES["R101"]) == (
        "R101 bare-scale (error)\n\n"
        "A judged dimension has no anchors.\n"
        "Why it harms: Each judge, and each call, makes up its own meaning of the numbers.\n"
        "How to mend it: Write anchors for the highest, the middle and the lowest score.\n"
    )
