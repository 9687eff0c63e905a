"""Wire models → frozen records, and the problems that only show when two keys are read together."""

from __future__ import annotations

from collections.abc import Iterator

from agentanvil.rubric.gate_wire import gate_problems
from agentanvil.rubric.model import (
    OVERALL,
    CheckDimension,
    CheckSpec,
    Dimension,
    Exclusion,
    Overall,
    ReplyFormat,
    Rubric,
    Scale,
    Scope,
)
from agentanvil.rubric.problems import Problem
from agentanvil.rubric.replies import read_labels, reply_problems
from agentanvil.rubric.wire import CheckDimensionWire, DimensionWire, RubricWire
from agentanvil.rubric.yaml_text import YamlPath, YamlText

VERSION = 1
MAX_SCORES = 101
MAX_WEIGHT = 1_000_000
# Names that a report, the journal or a task id gives to something else.
RESERVED = frozenset(
    {OVERALL, "id", "state", "pass", "joint", "checks"}
    | {"winner", "preference", "consistency", "stated_winner", "p_ab", "p_ba"}
)
COLUMN_SUFFIXES = ("_sd", "_n", "_state", "_verdict")


def find_problems(wire: RubricWire) -> Iterator[Problem]:
    """Yield what is wrong although each value alone is well formed."""
    if wire.version != VERSION:
        yield Problem(
            ("version",),
            f"this AgentAnvil reads rubrics of version {VERSION}, not {wire.version}",
            f"write `version: {VERSION}`",
        )
    yield from _scale_problems(wire)
    yield from _id_problems(wire)
    yield from _weight_problems(wire)
    yield from gate_problems(wire)
    yield from reply_problems(wire)


def _scale_problems(wire: RubricWire) -> Iterator[Problem]:
    low, high = wire.scale.min, wire.scale.max
    if low >= high:
        yield Problem(("scale",), f"min ({low}) must be less than max ({high})")
        return
    if high - low >= MAX_SCORES:
        yield Problem(
            ("scale",),
            f"the scale offers {high - low + 1} scores, more than {MAX_SCORES}",
            "no reader tells so many apart: 1 to 5 is usual",
        )
    for index, dimension in enumerate(wire.dimensions):
        if isinstance(dimension, DimensionWire):
            for score in dimension.anchors:
                if not low <= score <= high:
                    yield Problem(
                        ("dimensions", index, "anchors", score),
                        f"the anchor {score} is not on the scale {low} to {high}",
                        code="R106",
                    )


def _id_problems(wire: RubricWire) -> Iterator[Problem]:
    ids = [dimension.id for dimension in wire.dimensions]
    for index, name in enumerate(ids):
        path: YamlPath = ("dimensions", index, "id")
        if name in ids[:index]:
            yield Problem(path, f"two dimensions have the id `{name}`", "ids are unique")
        elif name in RESERVED:
            yield Problem(path, f"`{name}` cannot be a dimension: reports use that name themselves", "choose another")
        for suffix in COLUMN_SUFFIXES:
            if name.endswith(suffix) and name.removesuffix(suffix) in ids:
                other = name.removesuffix(suffix)
                yield Problem(path, f"`{name}` is also the name of a column of `{other}`", "choose another")


def _weight_problems(wire: RubricWire) -> Iterator[Problem]:
    weights = wire.overall.weights
    path: YamlPath = ("overall", "weights")
    if wire.overall.rule == "min":
        if weights is not None:
            yield Problem(path, "the minimum has no weights", "remove `weights`, or write `rule: weighted`")
        return
    if not weights:
        yield Problem(("overall",), "`rule: weighted` needs weights", "for example `weights: {faithfulness: 2}`")
        return
    known = [dimension.id for dimension in wire.dimensions]
    for name, weight in weights.items():
        if name not in known:
            hint = f"the dimensions are: {', '.join(known)}"
            yield Problem((*path, name), f"there is no dimension `{name}`", hint, code="R503")
        if not 0 <= weight <= MAX_WEIGHT:
            yield Problem((*path, name), f"the weight {weight:g} is not between 0 and {MAX_WEIGHT:,}")
    if not any(weights.values()):
        yield Problem(path, "all weights are 0, so that nothing would count", "give one dimension a weight above 0")


def build(wire: RubricWire, source: YamlText, text: str) -> Rubric:
    """Return the records. `wire` has no problems left; the hash is not filled in yet."""
    return Rubric(
        id=wire.id,
        version=wire.version,
        scale=Scale(wire.scale.min, wire.scale.max),
        dimensions=tuple(
            _dimension(dimension, ("dimensions", index), source)
            if isinstance(dimension, DimensionWire)
            else _check_dimension(dimension, ("dimensions", index), source)
            for index, dimension in enumerate(wire.dimensions)
        ),
        rules=tuple(wire.rules),
        omit_built_in=tuple(sorted(set(wire.omit_built_in))),
        calls=wire.calls,
        evidence=wire.evidence,
        overall=Overall(
            wire.overall.rule, {name: float(weight) for name, weight in (wire.overall.weights or {}).items()}
        ),
        gate={name: float(threshold) for name, threshold in wire.gate.thresholds.items()},
        terms=wire.gate.terms,
        reply=_reply(wire),
        mode=wire.mode,
        allow_expected=wire.allow_expected,
        needs_source=wire.needs_source,
        purpose=wire.purpose or "",
        not_for=wire.not_for or "",
        text=text,
        file=source.file,
    )


def _dimension(wire: DimensionWire, path: YamlPath, source: YamlText) -> Dimension:
    outside = tuple(
        Exclusion(exclusion.what, exclusion.judged_by, source.where((*path, "scope", "out", index)).line)
        for index, exclusion in enumerate(wire.scope.out)
    )
    return Dimension(
        id=wire.id,
        question=wire.question,
        anchors={score: wire.anchors[score] for score in sorted(wire.anchors, reverse=True)},
        scope=Scope(tuple(wire.scope.inside), outside),
        allow_na=wire.allow_na,
        line=source.where(path).line,
    )


def _check_dimension(wire: CheckDimensionWire, path: YamlPath, source: YamlText) -> CheckDimension:
    check = wire.check
    return CheckDimension(wire.id, CheckSpec(check.type, check.on, check.params()), source.where(path).line)


def _reply(wire: RubricWire) -> ReplyFormat:
    if wire.reply is None:
        return ReplyFormat()
    labels = read_labels(wire)
    return ReplyFormat(wire.reply.format, wire.reply.marker or "", labels, wire.reply.select)
