"""Texts that go to the judge word for word: nothing in a rubric is filled in, and nothing is fetched."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentanvil.rubric.problems import Problem
from agentanvil.rubric.wire import DimensionWire, RubricWire
from agentanvil.rubric.yaml_text import YamlPath

# What template languages write: {{ x }}, {% x %}, {# x #}, <% x %>, ${x}, %(x)s and {x}. A brace that follows a
# letter, `\`, `^`, `_` or `}` is left alone: that is a formula, as in \frac{a}{b}.
_PLACEHOLDER = re.compile(
    r"\{\{[^{}\n]{0,80}\}{0,2}"
    r"|\{[%#][^{}\n]{0,80}[%#]\}"
    r"|<%[^<>\n]{0,80}%>"
    r"|\$\{[^{}\n]{1,80}\}"
    r"|%\([A-Za-z_]\w{0,80}\)[a-z]"
    r"|(?<![\w\\^}])\{[A-Za-z_][\w.]{0,80}(?:\[[^\]{}]{0,40}\])?(?:![a-z])?(?::[^{}\n]{0,20})?\}"
)
_ADDRESS = re.compile(r"\s*[a-z][a-z0-9+.-]{1,20}:(?:/|\\)\S*\s*", re.IGNORECASE)


def prose(wire: RubricWire) -> Iterator[tuple[YamlPath, str]]:
    """Yield every text that a judge or a reader sees, with its path in the file."""
    for key in ("purpose", "not_for"):
        text = getattr(wire, key)
        if text is not None:
            yield (key,), text
    for index, rule in enumerate(wire.rules):
        yield ("rules", index), rule
    for index, dimension in enumerate(wire.dimensions):
        if isinstance(dimension, DimensionWire):
            yield from _dimension_prose(dimension, ("dimensions", index))


def _dimension_prose(dimension: DimensionWire, path: YamlPath) -> Iterator[tuple[YamlPath, str]]:
    yield (*path, "question"), dimension.question
    for score, anchor in dimension.anchors.items():
        yield (*path, "anchors", score), anchor
    for index, matter in enumerate(dimension.scope.inside):
        yield (*path, "scope", "in", index), matter
    for index, exclusion in enumerate(dimension.scope.out):
        yield (*path, "scope", "out", index, "what"), exclusion.what


def prose_problems(wire: RubricWire) -> Iterator[Problem]:
    """Yield what a judge would get literally although somebody meant it to be filled in or fetched."""
    for path, text in prose(wire):
        placeholder = _PLACEHOLDER.search(text)
        if placeholder is not None:
            yield Problem(
                path,
                f"the placeholder `{placeholder.group()}` would reach the judge as it stands",
                "a rubric is the same for every row and is never filled in: write the text itself"
                " (request, response and source are given to the judge beside it)",
                code="R005",
            )
        elif _ADDRESS.fullmatch(text):
            yield Problem(
                path,
                f"`{text.strip()[:60]}` is an address, and a rubric fetches nothing",
                "write the text itself here",
                code="R005",
            )
