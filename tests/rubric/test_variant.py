"""A rubric without one clause: the rest of its meaning is the same, whatever its texts hold."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from agentanvil.prompt import built_in_rules
from agentanvil.rubric import Dimension, Rubric, lint_text, load_rubric, parse_rubric
from agentanvil.rubric.variant import Clause, clauses, variant_text

RUBRICS = [Path(__file__).parents[2] / "rubrics" / f"{name}.yaml" for name in ("agent", "gate", "pairwise", "grounded")]
TEXT = """\
version: 1
id: small
scale: {min: 1, max: 5}
rules: [First., Second.]   # two of them
omit_built_in: [round_down]
dimensions:
  - id: accuracy
    question: Is each claim true?
    anchors: {5: no error, 1: an error}
    scope:
      in: [figures]
      out:
        - {what: the tone, judged_by: tone}
        - {what: spelling}
        - {what: "a call number", judged_by: called}
  - {id: tone, question: "Is it polite?", anchors: {5: polite, 1: rude}}
  - {id: called, check: {type: contains, text: "#"}}
"""


def found(rubric: Rubric) -> tuple[Clause, ...]:
    return clauses(rubric, built_in_rules(rubric))


def variant(rubric: Rubric, clause: Clause) -> Rubric:
    return parse_rubric(variant_text(rubric, clause), "variant.yaml")


def test_clauses_are_named_by_where_they_stand() -> None:
    listed = found(parse_rubric(TEXT))
    assert [(clause.id, clause.line) for clause in listed] == [
        ("accuracy.in.1", 11),
        ("accuracy.out.1", 13),
        ("accuracy.out.2", 14),
        ("accuracy.out.3", 15),
        ("rules.1", 4),
        ("rules.2", 4),
        ("built_in.only_what_is_there", None),
        ("built_in.ignore_style", None),
        ("evidence", None),
    ]
    # A check reaches no judge, so that nothing of it can be kept apart.
    assert [clause.judged_by for clause in listed[1:4]] == ["tone", None, None]
    assert {clause.dimension for clause in listed[:4]} == {"accuracy"}


def without(rubric: Rubric, clause: Clause) -> Rubric:
    """The records without a clause, made from the records."""
    kind, place = clause.kind, clause.path[-1]
    if kind == "evidence":
        return replace(rubric, evidence="none")
    if kind == "built_in_rule":
        return replace(rubric, omit_built_in=tuple(sorted((*rubric.omit_built_in, place))))  # type: ignore[arg-type]
    assert isinstance(place, int)
    if kind == "rule":
        return replace(rubric, rules=rubric.rules[:place] + rubric.rules[place + 1 :])
    dimensions = list(rubric.dimensions)
    for at, dimension in enumerate(dimensions):
        if isinstance(dimension, Dimension) and dimension.id == clause.dimension:
            field = "inside" if kind == "in_scope" else "outside"
            kept = [entry for n, entry in enumerate(getattr(dimension.scope, field)) if n != place]
            dimensions[at] = replace(dimension, scope=replace(dimension.scope, **{field: tuple(kept)}))
    return replace(rubric, dimensions=tuple(dimensions))


def meaning(rubric: Rubric) -> Rubric:
    """The records without what the file's layout says."""
    plain = [
        replace(
            dimension,
            line=None,
            scope=replace(dimension.scope, outside=tuple(replace(out, line=None) for out in dimension.scope.outside)),
        )
        if isinstance(dimension, Dimension)
        else replace(dimension, line=None)
        for dimension in rubric.dimensions
    ]
    return replace(rubric, dimensions=tuple(plain), text="", file=None, hash="")


def assert_each_clause_alone_is_gone(rubric: Rubric) -> None:
    for clause in found(rubric):
        made = variant(rubric, clause)
        assert meaning(made) == meaning(without(rubric, clause)), clause.id
        assert made.hash != rubric.hash


@pytest.mark.parametrize("path", RUBRICS, ids=lambda path: path.stem)
def test_every_variant_of_a_shipped_rubric_lacks_its_clause_and_nothing_else(path: Path) -> None:
    assert_each_clause_alone_is_gone(load_rubric(path))


def test_every_variant_of_a_small_rubric_lacks_its_clause_and_nothing_else() -> None:
    assert_each_clause_alone_is_gone(parse_rubric(TEXT))


def test_a_variant_can_be_linted() -> None:
    rubric = parse_rubric(TEXT)
    for clause in found(rubric):
        assert lint_text(variant_text(rubric, clause), "variant.yaml").rubric is not None


def test_a_scope_without_its_only_entry_is_no_scope() -> None:
    single = parse_rubric(
        "version: 1\nid: a\nscale: {min: 0, max: 1}\ndimensions:\n- {id: a, question: q, scope: {in: [x]}}\n"
    )
    assert "scope" not in variant_text(single, found(single)[0])


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=30).filter(
    str.strip
)
NASTY = st.sampled_from(
    ["1e5", "yes", "~", "- a", "a: b", "# no", "'", '"', "\\", "{a", "&a", "*a", "!t", "1:30", "a\nb"]
)


@settings(max_examples=50)
@given(rules=st.lists(TEXTS | NASTY, min_size=1, max_size=3), what=TEXTS | NASTY, labels=st.lists(NASTY, unique=True))
def test_no_text_is_taken_for_anything_else(rules: list[str], what: str, labels: list[str]) -> None:
    data: dict[str, Any] = {
        "version": 1,
        "id": "r",
        "scale": {"min": 0, "max": 5},
        "rules": rules,
        "dimensions": [
            {"id": "a", "question": what, "scope": {"in": [what, "x"], "out": [{"what": what}]}},
            {"id": "b", "check": {"type": "json_schema", "schema": {"enum": [*labels, 1e-7, -2.5, True, None, [[1]]]}}},
        ],
    }
    rubric = parse_rubric(json.dumps(data))
    assert_each_clause_alone_is_gone(rubric)


def test_a_variant_is_yaml_for_other_readers_too() -> None:
    rubric = parse_rubric(TEXT)
    told = yaml.safe_load(variant_text(rubric, found(rubric)[1]))
    assert told["dimensions"][0]["scope"]["out"] == [
        {"what": "spelling"},
        {"what": "a call number", "judged_by": "called"},
    ]
