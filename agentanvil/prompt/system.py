"""The system message: role, rules, anchored dimensions, procedure, output contract; the same for every row."""

from __future__ import annotations

from agentanvil.prompt import words
from agentanvil.prompt.contract import Contract, chosen_dimensions
from agentanvil.rubric import Dimension, Rubric


def system_text(rubric: Rubric, contract: Contract) -> str:
    """Return the message that tells a judge what to grade and how to answer.

    A call for one dimension says nothing about its siblings but what its own scope says.
    """
    dimensions = chosen_dimensions(rubric, contract)
    sections = (
        _opening(rubric),
        _section("Rules", _rules(rubric)),
        *(_dimension(dimension) for dimension in dimensions),
        _procedure(rubric, dimensions),
        _section("Reply", [words.reply_form(contract)]),
    )
    return "\n\n".join(sections)


def _opening(rubric: Rubric) -> str:
    layout = words.data_rule(needs_source=rubric.needs_source, allow_expected=rubric.allow_expected)
    return f"{words.ROLE}\n{layout}"


def _section(title: str, lines: list[str]) -> str:
    return "\n".join((f"# {title}", *lines))


def _rules(rubric: Rubric) -> list[str]:
    built_in = words.rules(rubric.evidence, rubric.scale.min)
    return [f"- {rule.strip()}" for rule in (*built_in, *rubric.rules)]


def _dimension(dimension: Dimension) -> str:
    lines = [dimension.question.strip()]
    scope = dimension.scope
    if scope:
        lines.append("Scope")
    if scope.inside:
        lines.append(f"in: {'; '.join(matter.strip() for matter in scope.inside)}")
    if scope.outside:
        matters = (words.excluded(matter.what.strip(), matter.judged_by) for matter in scope.outside)
        lines.append(f"out: {'; '.join(matters)}")
    lines.append("Anchors")
    lines.extend(f"{score}: {dimension.anchors[score].strip()}" for score in sorted(dimension.anchors, reverse=True))
    return _section(dimension.id, lines)


def _procedure(rubric: Rubric, dimensions: tuple[Dimension, ...]) -> str:
    steps = words.steps(rubric.evidence, needs_source=rubric.needs_source)
    lines = ["For each dimension in turn:"] if len(dimensions) > 1 else []
    lines.extend(f"{number}. {step}" for number, step in enumerate(steps, start=1))
    excluded = [
        words.exclusion(dimension.id, matter.what.strip(), matter.judged_by)
        for dimension in dimensions
        for matter in dimension.scope.outside
    ]
    if excluded:
        lines.extend((words.OUT_OF_SCOPE, *excluded))
    return _section("Procedure", lines)
