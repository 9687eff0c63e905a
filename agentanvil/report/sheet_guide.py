"""The rubric as its raters read it: the contract that binds the judge, in Markdown."""

from __future__ import annotations

from agentanvil.dataset.sheet import NOTE, SheetForm
from agentanvil.prompt import built_in_rules, words
from agentanvil.rubric import Dimension, Rubric

_ONE = "Each row of the sheet holds one request and one response."
_TWO = "Each row of the sheet holds one request and two responses; which of them stands first is a matter of chance."
_EXPECTED = "`expected` holds one good answer, where there is one; others may be as good."
_ASKED = {
    "absolute": "In the column of each dimension write {offered}: the highest anchor that the response meets in full.",
    "gate": "In the column of each dimension write {offered}, by its conditions.",
    "pairwise": "In the column `winner` write {offered}: the response that meets the higher anchors, all in all.",
}
_HOW = (
    "Leave a cell empty where you cannot tell, or where the question does not apply. `{note}` is for remarks. Leave "
    "the `id` of each row as it is. Rows may be sorted as long as whole rows move. Save the sheet as CSV in UTF-8."
)


def sheet_guide(rubric: Rubric, form: SheetForm, sheet: str) -> str:
    """Return the guide to the sheet of that name: what to write, then every judged dimension, then the rules."""
    blocks = [
        f"# How to fill in {sheet}",
        " ".join((_TWO if form.mode == "pairwise" else _ONE, _ASKED[form.mode].format(offered=form.offered))),
        " ".join((_HOW.format(note=NOTE), *((_EXPECTED,) if rubric.allow_expected else ()))),
        *(block for dimension in rubric.judged for block in _dimension(rubric, form, dimension)),
        "## Rules",
        _list([*built_in_rules(rubric).values(), *rubric.rules]),
    ]
    return "\n\n".join(blocks) + "\n"


def _dimension(rubric: Rubric, form: SheetForm, dimension: Dimension) -> list[str]:
    column = form.columns.get(dimension.id, dimension.id)
    scope = dimension.scope
    outside = [words.excluded(matter.what.strip(), matter.judged_by) for matter in scope.outside]
    blocks = [f"## {column}", dimension.question.strip()]
    if scope.inside:
        blocks += ["What belongs to it:", _list(scope.inside)]
    if outside:
        blocks += ["What does not:", _list(outside)]
    return [*blocks, "Conditions:" if rubric.mode == "gate" else "Anchors:", _list(_anchors(rubric, dimension))]


def _anchors(rubric: Rubric, dimension: Dimension) -> list[str]:
    if rubric.mode == "gate":
        return list(words.conditions(dimension, rubric.threshold(dimension.id), rubric.scale))
    return [f"**{score}**: {text.strip()}" for score, text in sorted(dimension.anchors.items(), reverse=True)]


def _list(lines: list[str] | tuple[str, ...]) -> str:
    return "\n".join(f"- {' '.join(line.split())}" for line in lines)
