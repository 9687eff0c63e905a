"""The YAML reader: what a scalar means, what is refused, and that nothing else can come out."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentanvil.errors import RubricError
from agentanvil.rubric.yaml_text import MAX_CHARS, MAX_DEPTH, dotted, read_yaml


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        pytest.param("yes", "yes", id="O-B21 yes"),
        pytest.param("no", "no", id="O-B21 no"),
        ("On", "On"),
        ("OFF", "OFF"),
        ("y", "y"),
        ("true", True),
        ("False", False),
        ("'true'", "true"),
        ("", None),
        ("~", None),
        ("null", None),
        ("'null'", "null"),
        ("12", 12),
        ("-3", -3),
        ("0", 0),
        ("012", "012"),
        ("0x1F", "0x1F"),
        ("0o17", "0o17"),
        ("+5", "+5"),
        ("1_000", "1_000"),
        ("1:30", "1:30"),
        ("190:20:30", "190:20:30"),
        ("2024-01-01", "2024-01-01"),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("1e", "1e"),
        ("1.2.3", "1.2.3"),
        ("=", "="),
        ("NaN", "NaN"),
        ("Infinity", "Infinity"),
        (r'"\uD83D\uDE00"', "😀"),
        ("größer", "größer"),
    ],
)
def test_a_plain_word_means_what_it_says(written: str, meant: object) -> None:
    data = read_yaml(f"key: {written}\n").data
    assert data == {"key": meant}
    assert isinstance(data, dict)
    assert type(data["key"]) is type(meant)


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        pytest.param("a: 1\nx: !!python/object/apply:os.getcwd []", 2, "!!python/object/apply:os.getcwd", id="O-H05"),
        pytest.param("x: !!python/name:os.system", 1, "!!python/name:os.system", id="O-H05 name"),
        pytest.param("x: !include other.yaml", 1, "!include", id="O-H05 include"),
        pytest.param("x: !!binary aGk=", 1, "!!binary", id="O-H05 binary"),
        pytest.param("%TAG ! tag:evil,2000:\n---\nx: !y z", 3, "tag:evil,2000:y", id="O-H05 handle"),
        ("x: ! yes", 1, "`!`"),
        ("a: 1\nb: 2\na: 3", 3, "`a` stands twice, first on line 1"),
        ("a: {b: 1,\n  'b': 2}", 2, "`b` stands twice, first on line 1"),
        ("a: {5: x, 5: y}", 1, "`5` stands twice"),
        ("a: .inf", 1, "`.inf` is no number"),
        ("a: -.INF", 1, "no number"),
        ("a: .NaN", 1, "no number"),
        ("a: 1e999", 1, "`1e999` is no number"),
        ("a: " + "9" * 5000, 1, "is no number"),
        ("true: 1", 1, "`true` cannot be a key"),
        ("? [a, b]\n: 1", 1, "cannot be a key"),
        ("? \n: 1", 1, "cannot be a key"),
        (": 1", 1, "not valid YAML"),
        ("1.5: x", 1, "`1.5` cannot be a key"),
        ("a: 1\n---\nb: 2", 2, "expected a single document"),
        ("a: 1\n\tb: 2", 2, "not valid YAML"),
        ("a: *nowhere", 1, "undefined alias"),
        ("a: [1, 2", 1, "not valid YAML"),
        ("a: ok\nb: \x07", 2, "U+0007"),
        ("a: \udc80", 1, "U+DC80"),
        (r'a: "\uD83D"', 1, "half of a surrogate pair"),
        (r'a: "\UFFFFFFFF"', None, "does not exist"),
        ("", None, "empty"),
        ("# only a comment\n", None, "empty"),
    ],
)
def test_what_no_rubric_needs_is_refused_with_its_line(text: str, line: int | None, said: str) -> None:
    with pytest.raises(RubricError) as caught:
        read_yaml(text, "r.yaml")
    assert said in caught.value.message
    assert caught.value.where is not None
    assert (caught.value.where.file, caught.value.where.line) == ("r.yaml", line)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a: &a [*a]", id="an anchor inside itself"),
        pytest.param("[" * 10_000, id="open brackets"),
        pytest.param("- " * 10_000, id="nested dashes"),
        pytest.param("a: " + "x" * MAX_CHARS, id="a huge text"),
        pytest.param(
            "a: &a [x, x, x, x, x, x, x, x, x]\n"
            + "".join(
                f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n" for old, new in zip("abcdefg", "bcdefgh", strict=True)
            ),
            id="aliases that multiply",
        ),
    ],
)
def test_documents_without_end_are_bounded(text: str) -> None:
    with pytest.raises(RubricError):
        read_yaml(text)


def test_an_alias_within_bounds_is_a_copy() -> None:
    assert read_yaml("a: &x [1, 2]\nb: *x\n").data == {"a": [1, 2], "b": [1, 2]}


def test_a_merge_key_is_an_ordinary_key() -> None:
    assert read_yaml("a: {<<: {b: 1}}").data == {"a": {"<<": {"b": 1}}}


def test_lines_and_unquoted_texts_are_kept() -> None:
    source = read_yaml("a: 1\nlabels:\n  - yes\n  - 'no'\nmap: {on: 1, 'off': 0}\n", "r.yaml")
    assert source.where(("labels", 1)).line == 4
    assert source.where(("labels", 9)).line == 2
    assert str(source.where(("labels", 0))) == "r.yaml:3: labels[0]"
    assert source.plain == {("labels", 0)}
    assert ("map", "on") in source.plain_keys
    assert ("map", "off") not in source.plain_keys


def test_a_dotted_path_tells_positions_from_anchors() -> None:
    assert dotted(("dimensions", 0, "anchors", 5)) == "dimensions[0].anchors.5"
    assert dotted(("dimensions", 1, "scope", "out", 2, "what")) == "dimensions[1].scope.out[2].what"
    assert dotted(()) is None


_YAML_LIKE = st.text(alphabet="ab1-:?[]{},&*!|>'\"%@`#~<=\\uU.eE+ \t\n\r\x00\x85\u2028\ufeff\ud800é", max_size=60)


@given(st.one_of(st.text(max_size=200), _YAML_LIKE))
@example("?\n-")
@example('"\\UFFFFFFFF": 1')
@example("&a : *a")
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(RubricError):
        assert read_yaml(text, "r.yaml").lines


@given(st.integers(min_value=1, max_value=80))
def test_depth_is_allowed_up_to_the_limit(depth: int) -> None:
    text = "[" * depth + "]" * depth
    if depth <= MAX_DEPTH:
        read_yaml(text)
    else:
        with pytest.raises(RubricError, match="nested"):
            read_yaml(text)
