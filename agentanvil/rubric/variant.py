"""A rubric without one of its clauses, as a file of its own: what a study holds against the whole rubric."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from agentanvil.rubric.load import read_source
from agentanvil.rubric.model import BuiltInRule, Dimension, Rubric
from agentanvil.rubric.yaml_text import YamlPath

ClauseKind = Literal["in_scope", "out_of_scope", "rule", "built_in_rule", "evidence"]
_OMITTED = "omit_built_in"
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TYPED_KEYS = frozenset({"true", "false", "null"})


@dataclass(frozen=True, slots=True)
class Clause:
    """One thing that a rubric tells the judge, and that it could leave unsaid.

    `id` is `D.in.N` or `D.out.N` for the N-th entry of a dimension's scope, `rules.N`, `built_in.NAME` or `evidence`.
    `path` is its place in the file, or the key that would take it out. `dimension` is the one whose scope it stands in,
    `judged_by` the judged sibling that an exclusion names. `line` is None for what stands in no file.
    """

    id: str
    kind: ClauseKind
    text: str
    path: YamlPath
    dimension: str | None = None
    judged_by: str | None = None
    line: int | None = None


def clauses(rubric: Rubric, built_in: Mapping[BuiltInRule, str]) -> tuple[Clause, ...]:
    """Return every clause of a rubric as it is asked: scopes, own rules, built-in rules, evidence.

    `built_in` holds the words of the built-in rules that are in force.
    """
    source = read_source(rubric.text, rubric.file)
    found = [*_of_scopes(rubric)]
    found += [Clause(f"rules.{n}", "rule", text, ("rules", n - 1)) for n, text in enumerate(rubric.rules, start=1)]
    found += [Clause(f"built_in.{name}", "built_in_rule", text, (_OMITTED, name)) for name, text in built_in.items()]
    if rubric.evidence != "none":
        found.append(Clause("evidence", "evidence", f"evidence: {rubric.evidence}", ("evidence",)))
    return tuple(
        Clause(c.id, c.kind, c.text, c.path, c.dimension, c.judged_by, source.lines.get(c.path)) for c in found
    )


def _of_scopes(rubric: Rubric) -> Iterator[Clause]:
    judged = {dimension.id for dimension in rubric.judged}
    for place, dimension in enumerate(rubric.dimensions):
        if not isinstance(dimension, Dimension):
            continue
        name = dimension.id
        scope: YamlPath = ("dimensions", place, "scope")
        for index, text in enumerate(dimension.scope.inside):
            yield Clause(f"{name}.in.{index + 1}", "in_scope", text, (*scope, "in", index), name)
        for index, matter in enumerate(dimension.scope.outside):
            owner = matter.judged_by if matter.judged_by in judged - {name} else None
            path = (*scope, "out", index)
            yield Clause(f"{name}.out.{index + 1}", "out_of_scope", matter.what, path, name, owner)


def variant_text(rubric: Rubric, clause: Clause) -> str:
    """Return the YAML of the rubric without a clause: the same contract otherwise, under the same id.

    Comments and layout are not those of the rubric's file. Raises RubricError where its text is no rubric.
    """
    data: Any = read_source(rubric.text, rubric.file).data
    if clause.kind == "evidence":
        data["evidence"] = "none"
    elif clause.kind == "built_in_rule":
        data[_OMITTED] = [*data.get(_OMITTED, ()), clause.path[-1]]
    else:
        _take_out(data, clause.path)
    head = f"# {rubric.id} without {clause.id}: {' '.join(clause.text.split())}"
    return "\n".join((_printable(head), *_block(data))) + "\n"


def _take_out(data: Any, path: YamlPath) -> None:
    """Delete what stands at a path, and what is empty without it."""
    *ancestors, last = path
    holder = data
    for step in ancestors:
        holder = holder[step]
    del holder[last]
    if not holder:
        _take_out(data, path[:-1])


def _block(value: Any) -> Iterator[str]:
    """Yield a value's lines in YAML's block style. Texts are quoted, so that none is taken for anything else."""
    if isinstance(value, dict) and value:
        for key, held in value.items():
            yield from _entry(f"{_key(key)}:", held)
    elif isinstance(value, list) and value:
        for held in value:
            first, *others = _block(held)
            yield f"- {first}"
            yield from (f"  {line}" for line in others)
    else:
        yield _printable(json.dumps(value, ensure_ascii=False))


def _entry(key: str, value: Any) -> Iterator[str]:
    lines = [*_block(value)]
    if isinstance(value, dict | list) and value:
        yield key
        yield from (f"  {line}" for line in lines)
    else:
        yield f"{key} {lines[0]}"


def _key(key: str | int) -> str:
    if isinstance(key, int) or (_PLAIN_KEY.fullmatch(key) and key.casefold() not in _TYPED_KEYS):
        return str(key)
    return _printable(json.dumps(key, ensure_ascii=False))


def _printable(text: str) -> str:
    """Escape what YAML takes for a line end, or does not take at all; the letters of all scripts stay."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else f"\\U{ord(char):08x}" for char in text)
