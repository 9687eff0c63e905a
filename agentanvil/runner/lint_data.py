"""Findings that need rows: do labels, expected answers, sources and models fit the contract and its judge?"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import pairwise

from agentanvil.client.families import Families
from agentanvil.client.spec import JudgeSpec
from agentanvil.dataset import WINNER, Dataset, Row
from agentanvil.dataset.tracefile import UNRECORDED_REQUEST
from agentanvil.errors import quoted
from agentanvil.rubric import OVERALL, Finding, Rubric, finding
from agentanvil.runner.kinship import families_of_judge, judges_gate, model_of_judge

LABELLED_ENOUGH = 30
"""Labelled rows from which agreement is worth a figure: with 30, a share of 80 % is known to about ±14 points."""

# `The source` is the one beside the response; `names a source` speaks of any.
_SOURCE = re.compile(r"\bthe (?:\w+ )?(?:sources?|passages?|documents?|context)\b", re.IGNORECASE)
_NAMED = 5
# How many different names are kept: a mis-mapped field must not fill the memory.
_NAMES = 100
_KEY_BYTES = 8
_PARTS = 256


@dataclass(slots=True)
class _Group:
    """Rows that share a fault: how many, and the line of the first."""

    rows: int = 0
    line: int = 0
    example: str = ""

    def add(self, row: Row, example: str = "") -> None:
        if not self.rows:
            self.line, self.example = row.line, example
        self.rows += 1


@dataclass(slots=True)
class _Tally:
    """What one pass over the rows has seen; it grows by 8 bytes a row, `keys` in parts that are sorted one by one."""

    rows: int = 0
    keys: tuple[array[int], ...] = field(default_factory=lambda: tuple(array("Q") for _ in range(_PARTS)))
    labelled: _Group = field(default_factory=_Group)
    by_name: dict[str, _Group] = field(default_factory=dict)
    off_scale: dict[str, _Group] = field(default_factory=dict)
    expected: _Group = field(default_factory=_Group)
    sourced: _Group = field(default_factory=_Group)
    sourceless: _Group = field(default_factory=_Group)
    models: dict[str, _Group] = field(default_factory=dict)


def lint_rows(
    rubric: Rubric, rows: Dataset, judge: JudgeSpec | None, families: Mapping[str, str] | None = None
) -> tuple[Finding, ...]:
    """Return the findings D101 to D501 about `rows` as they are to be judged by `rubric`; `families` are anvil.yaml's.

    Reads the rows two or three times and never holds them. Raises DatasetError as `Dataset.scan` does. `rows` must
    have been opened without asking for a source, so that rows that lack one can be counted.
    """
    info = rows.scan()
    tally = _Tally()
    for row in rows.rows():
        _count(row, rubric, tally)
    return (
        *_labels(rubric, rows, tally),
        *_expected(rubric, rows, tally, info.hidden_fields),
        *_sources(rubric, rows, tally),
        *_kin(rubric, rows, tally, judge, Families(families)),
        *_copies(rows, tally),
    )


def _count(row: Row, rubric: Rubric, tally: _Tally) -> None:
    tally.rows += 1
    if row.request != UNRECORDED_REQUEST:
        key = _key(row)
        tally.keys[key % _PARTS].append(key)
    if row.labels:
        tally.labelled.add(row)
    for name, labels in row.labels.items():
        _group(tally.by_name, name, row)
        wrong = next((label for label in labels if not _on_offer(rubric, name, label)), None)
        if wrong is not None:
            _group(tally.off_scale, name, row, f"{wrong:g}")
    if row.expected is not None:
        tally.expected.add(row)
    (tally.sourced if row.source else tally.sourceless).add(row)
    for model in (row.model, row.rival.model if row.rival else None):
        if model is not None:
            _group(tally.models, model, row)


def _group(groups: dict[str, _Group], name: str, row: Row, example: str = "") -> None:
    if name in groups or len(groups) < _NAMES:
        groups.setdefault(name, _Group()).add(row, example)


def _key(row: Row) -> int:
    """Return 64 bits over what is judged; a trace counts with its steps, another model's equal answer is no copy."""
    rival = row.rival
    parts = (row.request, row.response, row.source, row.model, row.trace and row.trace.steps)
    others = (rival.response, rival.model, rival.trace and rival.trace.steps) if rival else ()
    text = repr((*parts, *others)).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=_KEY_BYTES).digest())


def _on_offer(rubric: Rubric, name: str, label: float) -> bool:
    """Say whether a verdict could be this very label. True and false are a gate's own words."""
    if isinstance(label, bool):
        return True
    if name == WINNER:
        return label in (-1, 0, 1)
    scale = rubric.offered if rubric.mode == "pairwise" else rubric.scale
    whole = float(label).is_integer() or rubric.mode != "absolute" or name == OVERALL
    return whole and scale.min <= label <= scale.max


def _labels(rubric: Rubric, rows: Dataset, tally: _Tally) -> Iterator[Finding]:
    ids = [dimension.id for dimension in rubric.dimensions]
    known = {*ids, OVERALL, WINNER} if rubric.mode == "pairwise" else {*ids, OVERALL}
    scale = rubric.offered if rubric.mode == "pairwise" else rubric.scale
    for name, group in tally.by_name.items():
        if name not in known:
            what = f"{_rows(group)} labels for {quoted(name)}, and the dimensions are {', '.join(ids[:_NAMED])}"
            yield finding("D102", what, line=group.line, file=rows.path)
        elif name in tally.off_scale:
            wrong = tally.off_scale[name]
            offer = f"{scale.min} to {scale.max} is on offer"
            what = f"{_rows(wrong)} a label for {name} such as {wrong.example}, and {offer}"
            yield finding("D101", what, dimension=name, line=wrong.line, file=rows.path)
    if not rubric.judged:
        return
    whole = {WINNER, OVERALL} & tally.by_name.keys()
    for dimension in rubric.judged if tally.labelled.rows and not whole else ():
        if dimension.id not in tally.by_name:
            what = f"{_rows(tally.labelled)} labels, none of them for {dimension.id}"
            yield finding("D103", what, dimension=dimension.id, line=tally.labelled.line, file=rows.path)
    if tally.labelled.rows < LABELLED_ENOUGH:
        what = f"{tally.labelled.rows} of {tally.rows} rows have labels"
        yield finding("D104", what, line=tally.labelled.line or None, file=rows.path)


def _expected(rubric: Rubric, rows: Dataset, tally: _Tally, fields: Iterable[str]) -> Iterator[Finding]:
    if tally.expected.rows:
        code = "D202" if rubric.allow_expected else "D201"
        what = f"{_rows(tally.expected)} an expected answer ({_listed(map(quoted, fields))})"
        yield finding(code, what, line=tally.expected.line, file=rows.path)
    elif rubric.allow_expected:
        yield finding("D203", f"none of {tally.rows} rows holds an expected answer", file=rows.path)


def _sources(rubric: Rubric, rows: Dataset, tally: _Tally) -> Iterator[Finding]:
    if not rubric.judged:
        return
    if rubric.needs_source:
        if tally.sourceless.rows:
            what = f"{_rows(tally.sourceless)} no source"
            yield finding("D301", what, line=tally.sourceless.line, file=rows.path)
    elif tally.sourced.rows and not any(map(_SOURCE.search, _texts(rubric))):
        yield finding("D302", f"{_rows(tally.sourced)} a source", line=tally.sourced.line, file=rows.path)


def _texts(rubric: Rubric) -> Iterator[str]:
    """Yield what tells a judge what a source is for, if anything does."""
    yield from rubric.rules
    for dimension in rubric.judged:
        yield from (dimension.question, *dimension.anchors.values(), *dimension.scope.inside)


def _kin(rubric: Rubric, rows: Dataset, tally: _Tally, judge: JudgeSpec | None, table: Families) -> Iterator[Finding]:
    own = frozenset() if judge is None else families_of_judge(judge, table)
    kin = {model: own & table.of(model) for model in tally.models}
    shared = sorted({family for found in kin.values() for family in found})
    if judge is not None and shared:
        models = [model for model, found in kin.items() if found]
        family = ", ".join(shared)
        what = f"the judge {model_of_judge(judge)} and {_listed(map(quoted, models))} are of one family ({family})"
        refused = ", and may not decide the gate alone" if judges_gate(rubric) else ""
        yield finding("D401", what + refused, line=tally.models[models[0]].line, file=rows.path)


def _copies(rows: Dataset, tally: _Tally) -> Iterator[Finding]:
    copies, example = 0, 0
    for part in tally.keys:
        doubles = [left for left, right in pairwise(sorted(part)) if left == right]
        copies += len(doubles)
        example = example or next(iter(doubles), 0)
    if not copies:
        return
    lines = []
    for row in rows.rows():
        if _key(row) == example:
            lines.append(row.line)
            if len(lines) > 1:
                break
    what = f"{copies} of {tally.rows} rows repeat another, such as lines {lines[0]} and {lines[-1]}"
    yield finding("D501", what, line=lines[-1], file=rows.path)


def _rows(group: _Group) -> str:
    return "1 row has" if group.rows == 1 else f"{group.rows} rows have"


def _listed(names: Iterable[str]) -> str:
    first = list(names)
    return ", ".join(first[:_NAMED]) + (f" and {len(first) - _NAMED} more" if len(first) > _NAMED else "")
