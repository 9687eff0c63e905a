"""The system message: role, rules, anchored dimensions, procedure, output contract; the same for every row."""

from __future__ import annotations

from agentanvil.prompt import words
from agentanvil.prompt.contract import Contract, chosen_dimensions
from agentanvil.prompt.reply_form import reply_form
from agentanvil.rubric import Dimension, Rubric


def system_text(rubric: Rubric, contract: Contract) -> str:
    """Return the message that tells a judge what to grade and how to answer.

    A call for one dimension says nothing about its siblings but what its own scope says.
    """
    dimensions = chosen_dimensions(rubric, contract)
    sections = (
        f"{words.ROLE[rubric.mode]}\n{words.data_rule(rubric)}",
        _section("Rules", [f"- {rule.strip()}" for rule in (*words.rules(rubric), *rubric.rules)]),
        *(_dimension(rubric, dimension) for dimension in dimensions),
        *_procedure(rubric, dimensions, contract),
    )
    return "\n\n".join(sections)


def dimension_text(rubric: Rubric, dimension: Dimension) -> str:
    """Return all that the message says of one dimension: its section, and its line in the procedure."""
    return "\n".join((_dimension(rubric, dimension), *_reminders(rubric, (dimension,))))


def _section(title: str, lines: list[str]) -> str:
    return "\n".join((f"# {title}", *lines))


def _dimension(rubric: Rubric, dimension: Dimension) -> str:
    lines = [dimension.question.strip()]
    scope = dimension.scope
    if scope:
        lines.append("Scope")
    if scope.inside:
        lines.append(f"in: {'; '.join(matter.strip() for matter in scope.inside)}")
    if scope.outside:
        matters = (words.excluded(matter.what.strip(), matter.judged_by) for matter in scope.outside)
        lines.append(f"out: {'; '.join(matters)}")
    if rubric.mode == "gate":
        lines.extend(words.conditions(dimension, rubric.threshold(dimension.id), rubric.scale))
    else:
        anchors = dimension.anchors
        lines.extend(("Anchors", *(f"{score}: {anchors[score].strip()}" for score in sorted(anchors, reverse=True))))
    return _section(dimension.id, lines)


def _procedure(rubric: Rubric, dimensions: tuple[Dimension, ...], contract: Contract) -> tuple[str, ...]:
    """Return the procedure and the reply's form; a gate has both in one."""
    form = reply_form(contract)
    if rubric.mode == "gate":
        asked = [words.brief_steps(rubric)] if contract.reply.format == "json" else []
        return (_section("Reply", [*asked, form]),)
    lines = ["For each dimension in turn:"] if len(dimensions) > 1 else []
    steps = words.steps(rubric, contract.steps)
    lines.extend(f"{number}. {step}" for number, step in enumerate(steps, start=1))
    lines.extend(_reminders(rubric, dimensions))
    if contract.nested and rubric.mode == "pairwise":
        lines.append("Then winner: the better response over all dimensions.")
    return _section("Procedure", lines), _section("Reply", [form])


def _reminders(rubric: Rubric, dimensions: tuple[Dimension, ...]) -> list[str]:
    """Return what each dimension leaves alone, said again where it is scored; a gate is kept short."""
    if rubric.mode == "gate":
        return []
    return [words.exclusions(dimension) for dimension in dimensions if dimension.scope.outside]
