"""The loader: each class of fault is one RubricError with file, line and key; a sound file becomes records."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from agentanvil.errors import RubricError
from agentanvil.rubric import (
    CheckDimension,
    CheckSpec,
    Dimension,
    Exclusion,
    Overall,
    ReplyFormat,
    Scale,
    Scope,
    load_rubric,
    parse_rubric,
)
from agentanvil.rubric.yaml_text import read_yaml
from tests.fakes.rubric_text import judged, rubric_text

FULL = r"""
version: 1
id: support-reply
purpose: replies of the help desk
not_for: chat
scale: {min: 1, max: 5}
rules: ["Length is no virtue."]
calls: split
evidence: pinpoint
needs_source: true
allow_expected: true
dimensions:
  - id: faithfulness
    question: |
      Are claims grounded?
    anchors:
      1: a fabrication
      5: every claim is supported
      3: exactly one unsupported claim
    scope:
      in: [claims of fact, figures]
      out:
        - {what: whether every question was answered, judged_by: completeness}
        - what: tone
    allow_na: true
  - {id: completeness, question: 'Is all answered?'}
  - id: names_ticket
    check: {type: regex, pattern: '#\d{5}', flags: [multiline, ignorecase], on: meta.ticket}
overall: {rule: weighted, weights: {faithfulness: 2, completeness: 0.5, names_ticket: 0}}
gate: {overall: 4, faithfulness: 4.5}
"""


def error_of(text: str) -> RubricError:
    with pytest.raises(RubricError) as caught:
        parse_rubric(text, "r.yaml")
    return caught.value


def place_of(error: RubricError) -> tuple[str | None, int | None, str | None]:
    assert error.where is not None
    return error.where.file, error.where.line, error.where.key


def test_a_full_rubric_becomes_records() -> None:
    rubric = parse_rubric(FULL, "r.yaml")
    faithfulness, completeness, ticket = rubric.dimensions
    assert faithfulness == Dimension(
        id="faithfulness",
        question="Are claims grounded?",
        anchors={5: "every claim is supported", 3: "exactly one unsupported claim", 1: "a fabrication"},
        scope=Scope(
            ("claims of fact", "figures"),
            (
                Exclusion("whether every question was answered", "completeness", line=23),
                Exclusion("tone", None, line=24),
            ),
        ),
        allow_na=True,
        line=13,
    )
    assert isinstance(faithfulness, Dimension)
    assert list(faithfulness.anchors) == [5, 3, 1]
    assert completeness == Dimension("completeness", "Is all answered?", {}, line=26)
    params = {"pattern": r"#\d{5}", "flags": ("multiline", "ignorecase")}
    assert ticket == CheckDimension("names_ticket", CheckSpec("regex", "meta.ticket", params), line=27)
    weights = {"faithfulness": 2.0, "completeness": 0.5, "names_ticket": 0.0}
    assert rubric.overall == Overall("weighted", weights)
    assert rubric.gate == {"overall": 4.0, "faithfulness": 4.5}
    assert (rubric.id, rubric.version, rubric.scale) == ("support-reply", 1, Scale(1, 5))
    assert (rubric.rules, rubric.calls, rubric.evidence) == (("Length is no virtue.",), "split", "pinpoint")
    assert (rubric.needs_source, rubric.allow_expected) == (True, True)
    assert (rubric.purpose, rubric.not_for) == ("replies of the help desk", "chat")
    assert (rubric.text, rubric.file, len(rubric.hash)) == (FULL, "r.yaml", 32)


def test_what_is_left_out_has_the_documented_default() -> None:
    rubric = parse_rubric(rubric_text())
    assert (rubric.rules, rubric.calls, rubric.evidence) == ((), "joint", "quoted")
    assert (rubric.overall, dict(rubric.gate), rubric.reply) == (Overall("min", {}), {}, ReplyFormat())
    assert (rubric.needs_source, rubric.allow_expected, rubric.purpose, rubric.file) == (False, False, "", None)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("just text", "mapping"),
        ("file://../../secret.txt", "mapping"),
        ("- a\n- b", "mapping"),
        ("5", "mapping"),
        ("", "empty"),
        ("\ufeff\ufeff" + rubric_text(), "byte order"),
        ("{", "not valid YAML"),
        (r"{id: '{{ x }}'}", "missing"),
    ],
)
def test_a_file_that_is_no_rubric(text: str, said: str) -> None:
    assert said in error_of(text).message


def test_a_file_is_read_as_utf8_with_or_without_a_mark(tmp_path: Path) -> None:
    text = rubric_text(judged(question="Größer als 5 €?"))
    plain, marked, windows = tmp_path / "plain.yaml", tmp_path / "marked.yaml", tmp_path / "windows.yaml"
    plain.write_bytes(text.encode("utf-8"))
    marked.write_bytes(b"\xef\xbb\xbf" + text.encode("utf-8"))
    windows.write_bytes(text.replace("\n", "\r\n").encode("utf-8"))
    assert load_rubric(plain).file == str(plain)
    assert load_rubric(plain).judged[0].question == "Größer als 5 €?"
    assert load_rubric(plain).hash == load_rubric(str(marked)).hash == load_rubric(windows).hash


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-32"])
def test_another_encoding_is_refused_with_the_line(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "r.yaml"
    path.write_bytes(rubric_text(judged(question="Größer?")).encode(encoding))
    with pytest.raises(RubricError, match="UTF-8") as caught:
        load_rubric(path)
    assert caught.value.where is not None
    assert caught.value.where.line == (5 if encoding == "latin-1" else 1)


def test_a_file_that_cannot_be_opened(tmp_path: Path) -> None:
    for path, said in (
        (tmp_path / "absent.yaml", "no such file"),
        (tmp_path, "folder"),
        ("file://../../secret.txt", "no such file"),
        ("nul\x00byte", "cannot be read"),
    ):
        with pytest.raises(RubricError, match=said):
            load_rubric(path)


def test_a_huge_file_is_refused_without_reading_it_all(tmp_path: Path) -> None:
    path = tmp_path / "big.yaml"
    path.write_text("# " + "x" * 3_000_000, encoding="utf-8")
    with pytest.raises(RubricError, match="more than the"):
        load_rubric(path)


_SCALARS = st.none() | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False) | st.text(max_size=8)
_WORDS = """version id scale min max rules calls evidence dimensions question anchors scope in out what judged_by
    allow_na check type pattern limit text schema on overall rule weights gate reply format marker labels select"""
_KEYS = st.sampled_from(_WORDS.split()) | st.text(max_size=4)
_TREES = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=4), max_leaves=15
)


@st.composite
def _mutated(draw: st.DrawFn) -> object:
    """A sound rubric in which one value, anywhere, is replaced by any other value."""
    data: Any = read_yaml(FULL).data
    holder, key = data, draw(st.sampled_from(sorted(data)))
    while isinstance(holder[key], dict | list) and holder[key] and draw(st.booleans()):
        holder = holder[key]
        key = draw(st.sampled_from(sorted(holder) if isinstance(holder, dict) else range(len(holder))))
    holder[key] = draw(_TREES)
    return data


@settings(max_examples=150)
@given(_mutated() | _TREES)
def test_any_data_is_read_or_refused(data: object) -> None:
    with contextlib.suppress(RubricError):
        parse_rubric(yaml.safe_dump(data, allow_unicode=True), "r.yaml")


@given(st.text(max_size=300))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(RubricError):
        parse_rubric(text, "r.yaml")
