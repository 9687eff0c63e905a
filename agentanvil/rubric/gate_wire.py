"""What is wrong with a `gate:` although each of its values alone is well formed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from agentanvil.rubric.gate_terms import term_faults
from agentanvil.rubric.model import OVERALL
from agentanvil.rubric.problems import Problem
from agentanvil.rubric.wire import GATE_TERMS, RubricWire
from agentanvil.rubric.yaml_text import YamlPath


def gate_problems(wire: RubricWire) -> Iterator[Problem]:
    """Yield unknown names, thresholds off the scale, impossible terms, and names that mean two things."""
    known = [dimension.id for dimension in wire.dimensions]
    # `mean` holds a mapping, which no threshold is: it cannot be taken for one.
    for name in sorted(wire.gate.model_fields_set & {*known} & {*GATE_TERMS} - {"mean"}):
        yield Problem(
            ("gate", name),
            f"`{name}` is a term of the gate, and also the name of a dimension",
            f"rename the dimension, or gate it by its mean: `mean: {{{name}: {wire.scale.max - 1}}}`",
        )
    yield from _thresholds(wire, ("gate",), wire.gate.thresholds, (OVERALL, *known, *GATE_TERMS))
    yield from _thresholds(wire, ("gate", "mean"), wire.gate.mean, (OVERALL, *known))
    for name in GATE_TERMS:
        if name in wire.gate.model_fields_set and getattr(wire.gate, name) is None:
            yield Problem(("gate", name), "this must be a number, not an empty value", "write the number, or no key")
    if "mean" in wire.gate.model_fields_set and not wire.gate.mean:
        yield Problem(("gate", "mean"), "`mean` names nothing", "for example `mean: {overall: 4}`")
    yield from (Problem(("gate", fault.key or ""), fault.message, fault.hint) for fault in term_faults(wire.gate.terms))


def _thresholds(
    wire: RubricWire, path: YamlPath, thresholds: dict[str, float], names: Sequence[str]
) -> Iterator[Problem]:
    dimensions = [dimension.id for dimension in wire.dimensions]
    low, high = wire.scale.min, wire.scale.max
    for name, threshold in thresholds.items():
        if name not in (OVERALL, *dimensions):
            close = get_close_matches(name.lower(), names, n=1)
            hint = (
                f"did you mean `{close[0]}`?" if close else f"a gate stands on {OVERALL} or on: {', '.join(dimensions)}"
            )
            yield Problem((*path, name), f"there is no dimension `{name}`", hint, code="R504")
        if not low <= threshold <= high:
            yield Problem(
                (*path, name), f"the threshold {threshold:g} is not on the scale {low} to {high}", code="R505"
            )
