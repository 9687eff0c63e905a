"""How the statistics of reliability are called with a vector's input."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from agentanvil.stats import Estimate, icc, variance_components
from tests.fakes.vector_answers import Answer, Call, of_estimate, of_fields


def _components(i: dict[str, Any]) -> Answer:
    found = variance_components(i["scores"])
    figures: dict[str, Estimate] = {each.name: getattr(found, each.name) for each in fields(found)}
    if all(figure.value is None for figure in figures.values()):
        return Answer(None, found.var_repeat.reason)
    return of_fields(**figures)


CALLS: Mapping[str, Call] = {
    "icc": lambda i, p: of_estimate(icc(i["ratings"], p["type"])),
    "variance_components": lambda i, _: _components(i),
}
