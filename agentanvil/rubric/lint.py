"""Reads the contract for what is well formed and yet will not measure: `lint_rubric`."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from agentanvil.rubric.findings import Finding, finding
from agentanvil.rubric.gate_terms import gate_faults, gated_figures, idle_terms, never_passing
from agentanvil.rubric.lint_anchors import lint_anchors
from agentanvil.rubric.lint_checks import lint_checks
from agentanvil.rubric.lint_prose import lint_prose
from agentanvil.rubric.lint_reading import Reading
from agentanvil.rubric.lint_scope import lint_scope
from agentanvil.rubric.lint_words import SAFETY, SAFETY_NAMES, YAML_1_1_BOOLEANS, words
from agentanvil.rubric.model import Rubric

_JOINT_MOST = 4


def lint_rubric(rubric: Rubric) -> tuple[Finding, ...]:
    """Return every finding, in the order of the file. Needs nothing but the rubric."""
    reading = Reading.of(rubric)
    found = [one for rule in _RULES for one in rule(reading)]
    return tuple(sorted(found, key=lambda one: (one.line or 0, one.code, one.message)))


def _lint_calls(reading: Reading) -> Iterator[Finding]:
    judged = len(reading.rubric.judged)
    if reading.rubric.calls == "joint" and judged > _JOINT_MOST:
        yield finding("R201", f"{judged} dimensions share one call", line=reading.line("dimensions"))


def _lint_expected(reading: Reading) -> Iterator[Finding]:
    if reading.rubric.allow_expected:
        yield finding("R403", "`allow_expected` is on", line=reading.line("allow_expected"))


def _lint_overall(reading: Reading) -> Iterator[Finding]:
    rubric = reading.rubric
    if rubric.overall.rule != "weighted":
        return
    gated = {*rubric.gate, *rubric.terms.mean}
    for dimension in rubric.judged:
        like_safety = SAFETY_NAMES & set(dimension.id.split("_")) or SAFETY & set(words(dimension.question))
        if like_safety and rubric.overall.weights.get(dimension.id) and dimension.id not in gated:
            what = f"the overall is a weighted mean that {dimension.id} is part of"
            yield finding("R501", what, dimension=dimension.id, line=reading.line("overall"))
    for dimension_id in (dimension.id for dimension in rubric.dimensions):
        if not rubric.overall.weights.get(dimension_id) and dimension_id not in gated:
            line = reading.line("overall", "weights", dimension_id)
            what = f"{dimension_id} has neither weight nor gate"
            yield finding("R502", what, dimension=dimension_id, line=line)


def _lint_mode(reading: Reading) -> Iterator[Finding]:
    rubric = reading.rubric
    if rubric.mode == "gate" and not rubric.gate and len(rubric.scale.values) > len(("no", "yes")):
        what = f"no threshold on the scale {rubric.scale.min} to {rubric.scale.max}"
        yield finding("R506", what, line=reading.line("mode"))
    if rubric.mode == "pairwise" and rubric.gate:
        yield finding("R507", "a gate in pairwise mode", line=reading.line("gate"))


def _lint_gate(reading: Reading) -> Iterator[Finding]:
    rubric = reading.rubric
    for fault in gate_faults(rubric):
        yield finding("R508", fault.message, line=reading.line("gate", *filter(None, [fault.key])))
    for figure in never_passing(rubric):
        what = f"{figure.name} is to be wholly at {figure.threshold:g}"
        yield finding("R509", what, dimension=figure.of or None, line=reading.line("gate", *figure.name.split(".")))
    if gated_figures(rubric):
        for name in idle_terms(rubric):
            yield finding("R510", f"`{name}` in the mode {rubric.mode}", line=reading.line("gate", name))


def _lint_evidence(reading: Reading) -> Iterator[Finding]:
    rubric = reading.rubric
    if not rubric.judged:
        return
    if rubric.reply.format != "json":
        yield finding("R603", f"the reply format is `{rubric.reply.format}`", line=reading.line("reply", "format"))
    elif rubric.evidence == "none":
        yield finding("R602", "`evidence: none`", line=reading.line("evidence"))


def _lint_labels(reading: Reading) -> Iterator[Finding]:
    for path, token, plain in reading.labels():
        if plain and token.lower() in YAML_1_1_BOOLEANS:
            yield finding("R701", f"the label `{token}` stands without quotes", line=reading.line(*path))
    for path, dimension, anchor in reading.plain_anchors():
        if anchor.lower() in YAML_1_1_BOOLEANS:
            what = f"the anchor `{anchor}` stands without quotes"
            yield finding("R701", what, dimension=dimension, line=reading.line(*path))
    reply = reading.rubric.reply
    if reading.labels_are_listed() and any(str(score) != token for token, score in reply.labels.items()):
        yield finding("R702", "the labels have no scores of their own", line=reading.line("reply", "labels"))


_RULES: tuple[Callable[[Reading], Iterator[Finding]], ...] = (
    lint_anchors,
    lint_scope,
    lint_prose,
    lint_checks,
    _lint_calls,
    _lint_expected,
    _lint_overall,
    _lint_mode,
    _lint_gate,
    _lint_evidence,
    _lint_labels,
)
