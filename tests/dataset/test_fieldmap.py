from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.dataset import FieldMap, PathAbsentError, parse_map, parse_path
from agentanvil.dataset.fieldmap import Step, spell_key
from agentanvil.errors import UsageError

COMPLETION = {"output": {"choices": [{"message": {"content": "hi"}}, {"text": "last"}], "a.b": {"0": "zero"}}}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("output.choices.0.message.content", "hi"),
        ("output.choices.-1.text", "last"),
        ("output.choices.1.text", "last"),
        (r"output.a\.b.0", "zero"),
        ('output."a.b"."0"', "zero"),
        ("  output.choices.0.message.content ", "hi"),
    ],
)
def test_finds(path: str, value: str) -> None:
    assert parse_path(path, "--map").find(COMPLETION) == value  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("answer", "the row has no `answer`; its keys are `output`"),
        ("output.text", "`output` has no `text`; its keys are `choices`, `a.b`"),
        ("output.choices.2.text", "`output.choices` is a list of 2, which has no `2`"),
        ("output.choices.-3", "is a list of 2, which has no `-3`"),
        ("output.choices.text", "is a list of 2, which has no `text`"),
        ('output.choices."0"', "is a list of 2, which has no `0`"),
        (r"output.choices.\0", "is a list of 2, which has no `0`"),
        ("output.choices.0.message.content.x", "`output.choices.0.message.content` is text, which has no `x`"),
        ("output.a.b", "`output` has no `a`"),
    ],
)
def test_says_how_far_the_path_went(path: str, message: str) -> None:
    with pytest.raises(PathAbsentError) as caught:
        parse_path(path, "--map").find(COMPLETION)  # type: ignore[arg-type]
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        (["request"], "has no `=`"),
        (["prompt=request"], "`prompt` is not a field"),
        (["respones=a"], "did you mean `response`"),
        (["=a"], "is not a field"),
        (["labels.=a"], "is not a field"),
        (["request.x=a"], "is not a field"),
        (["request="], "the path is empty"),
        (["request=  "], "the path is empty"),
        (["request=a..b"], "empty part"),
        (["request=.a"], "empty part"),
        (["request=a."], "empty part"),
        (["request=a\\"], "ends in a backslash"),
        (['request="a'], "never closed"),
        (['request="a"b'], "after a quoted key"),
        (["request=a", "request=b"], "`request` twice"),
        (["labels.x=a", "labels.x=a"], "`labels.x` twice"),
        (["request=\udcff"], "not UTF-8"),
    ],
)
def test_refuses(entries: list[str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_map(entries)
    assert message in str(caught.value)


def test_targets_and_equals_signs() -> None:
    mapping = parse_map(["request = a=b", "labels.tone=scores.tone", "labels.a.b=x", "meta.k=id", "expected=gold"])
    assert mapping.paths["request"].find({"a=b": "v"}) == "v"
    assert set(mapping.named("labels")) == {"tone", "a.b"}
    assert mapping.roots == {"a=b", "scores", "x", "id", "gold"}
    assert mapping
    assert not FieldMap()


def test_an_empty_quoted_key_is_a_key() -> None:
    assert parse_path('""', "--map").find({"": 1}) == 1


def test_the_digest_is_the_meaning() -> None:
    one = parse_map(["request=a.b", "response=c"])
    assert one.digest == parse_map(["response=c", 'request=a."b"']).digest
    others = [["request=a", "response=c"], [r"request=a\.b", "response=c"], ["request=c", "response=a.b"], []]
    digests = {parse_map(entries).digest for entries in others} | {one.digest}
    assert len(digests) == 5


def test_an_index_and_a_key_are_not_the_same_path() -> None:
    assert parse_map(["request=a.0"]).digest != parse_map(['request=a."0"']).digest


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=4))
def test_every_key_can_be_written(keys: list[str]) -> None:
    path = parse_path(".".join(spell_key(key) for key in keys), "--map")
    assert list(path.steps) == [Step(key) for key in keys]


@given(st.text())
def test_any_text_is_a_path_or_refused(text: str) -> None:
    try:
        path = parse_path(text, "--map")
    except UsageError:
        return
    assert path.steps
