"""The hash: layout and comments leave it alone, every part of the meaning changes it."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.rubric import parse_rubric

MEANING: dict[str, Any] = {
    "version": 1,
    "id": "small",
    "purpose": "p",
    "not_for": "n",
    "needs_source": False,
    "allow_expected": False,
    "scale": {"min": 1, "max": 5},
    "rules": ["first rule", "second rule"],
    "omit_built_in": [],
    "calls": "split",
    "evidence": "quoted",
    "reply": {"format": "label", "marker": "Score:", "labels": {"yes": 5, "no": 1}, "select": "only"},
    "dimensions": [
        {
            "id": "a",
            "question": "q",
            "anchors": {5: "none", 3: "exactly one", 1: "two or more"},
            "scope": {"in": ["x", "y"], "out": [{"what": "z", "judged_by": "b"}, {"what": "w"}]},
            "allow_na": False,
        },
        {"id": "b", "question": "r"},
        {"id": "c", "check": {"type": "regex", "pattern": "x", "flags": ["dotall"], "on": "response"}},
        {
            "id": "d",
            "check": {"type": "json_schema", "schema": {"type": "object", "properties": {"k": {"minimum": 1}}}},
        },
    ],
    "overall": {"rule": "weighted", "weights": {"a": 2, "b": 1.5}},
    "gate": {"overall": 4, "a": 5},
}


def hash_of(data: object, **layout: Any) -> str:
    return parse_rubric(yaml.safe_dump(data, allow_unicode=True, **layout), "any.yaml").hash


def changed(path: str, value: object) -> dict[str, Any]:
    data: Any = yaml.safe_load(yaml.safe_dump(MEANING))
    holder = data
    *steps, last = [int(step) if step.isdigit() else step for step in path.split("/")]
    for step in steps:
        holder = holder[step]
    holder[last] = value
    return data  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("id", "other"),
        ("purpose", "other"),
        ("not_for", "other"),
        ("needs_source", True),
        ("allow_expected", True),
        ("scale", {"min": 0, "max": 5}),
        ("rules", ["second rule", "first rule"]),
        ("rules", ["first rule second rule"]),
        ("omit_built_in", ["round_down"]),
        ("evidence", "pinpoint"),
        ("reply/format", "brackets"),
        ("reply/marker", "Rating:"),
        ("reply/labels", {"yes": 5, "no": 2}),
        ("reply/select", "last"),
        ("dimensions/0/question", "Q"),
        ("dimensions/0/anchors", {5: "none", 4: "exactly one", 1: "two or more"}),
        ("dimensions/0/anchors/3", "exactly two"),
        ("dimensions/0/scope/in", ["y", "x"]),
        ("dimensions/0/scope/out/0/judged_by", "c"),
        ("dimensions/0/scope/out/1/what", "v"),
        ("dimensions/1/id", "e"),
        ("dimensions/1/allow_na", True),
        ("dimensions/2/check/pattern", "y"),
        ("dimensions/2/check/flags", []),
        ("dimensions/2/check/on", "request"),
        ("dimensions/3/check/schema/properties/k/minimum", 2),
        ("overall/weights/b", 1),
        ("overall", {"rule": "min"}),
        ("gate/a", 4.5),
        ("gate", {"overall": 4}),
    ],
)
def test_a_changed_meaning_changes_the_hash(path: str, value: object) -> None:
    data = changed(path, value)
    if path == "reply/format":
        del data["reply"]["marker"]
    if path == "dimensions/1/id":
        data["overall"]["weights"]["e"] = data["overall"]["weights"].pop("b")
    if path == "dimensions/1/allow_na":
        data["reply"] = {"format": "json"}
        assert hash_of(data) != hash_of({**MEANING, "reply": {"format": "json"}})
    assert hash_of(data) != hash_of(MEANING)


def test_joint_and_split_calls_differ() -> None:
    joint = {**MEANING, "calls": "joint", "reply": {"format": "json"}}
    assert hash_of(joint) != hash_of({**joint, "calls": "split"})


def test_what_is_written_out_means_the_same_as_the_default() -> None:
    short = "version: 1\nid: a\nscale: {min: 1, max: 5}\ndimensions: [{id: b, question: q}]\n"
    long = (
        short + "calls: joint\nevidence: quoted\noverall: {rule: min}\ngate: {}\nrules: []\n"
        "reply: {format: json, select: only}\nallow_expected: false\nneeds_source: false\n"
    )
    assert parse_rubric(short).hash == parse_rubric(long).hash


_SPACES = st.integers(2, 6)


@st.composite
def _shuffled(draw: st.DrawFn, value: object) -> object:
    """The same data, with the keys of every mapping in another order; lists keep theirs."""
    if isinstance(value, dict):
        keys = draw(st.permutations(list(value)))
        return {key: draw(_shuffled(value[key])) for key in keys}
    if isinstance(value, list):
        return [draw(_shuffled(item)) for item in value]
    return value


@given(_shuffled(MEANING), _SPACES, st.sampled_from([True, False, None]), st.text("ab #:\t", max_size=20))
def test_layout_leaves_the_hash_alone(data: object, indent: int, flow: bool | None, comment: str) -> None:
    text = yaml.safe_dump(data, indent=indent, default_flow_style=flow, sort_keys=False, width=40)
    assert parse_rubric(f"# {comment}\n{text}\n# {comment}", "other.yaml").hash == hash_of(MEANING)


_PRINTABLE = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1, max_size=20)


@given(_PRINTABLE, _PRINTABLE)
def test_two_questions_share_a_hash_only_if_they_are_one(first: str, second: str) -> None:
    one, other = (hash_of(changed("dimensions/1/question", f"Is it <{text}>?")) for text in (first, second))
    assert (one == other) == (first == second)
