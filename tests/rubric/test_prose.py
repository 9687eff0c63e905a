"""A rubric's texts reach the judge as they stand: whatever looks filled in or fetched is refused."""

from __future__ import annotations

import pytest

from agentanvil.errors import RubricError
from agentanvil.rubric import parse_rubric
from tests.fakes.rubric_text import rubric_text


def error_of(text: str) -> RubricError:
    with pytest.raises(RubricError) as caught:
        parse_rubric(text, "r.yaml")
    return caught.value


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Does it mention {{ topic }}?", id="O-B18"),
        pytest.param("{{topic}}", id="O-B18 tight"),
        pytest.param("Does it mention {{ topic }?", id="O-B18 half closed"),
        pytest.param("{% if x %}yes{% endif %}", id="O-B18 statement"),
        pytest.param("{# note #}", id="O-B18 comment"),
        pytest.param("Does it mention {topic}?", id="O-B18 str.format"),
        pytest.param("Is {answer.__class__} there?", id="O-B08 attribute"),
        pytest.param("Is {row[id]!r:>10} there?", id="O-B18 format spec"),
        pytest.param("Does it mention ${topic}?", id="O-B18 shell"),
        pytest.param("Does it mention %(topic)s?", id="O-B18 percent"),
        pytest.param("Does it mention <%= topic %>?", id="O-B18 erb"),
        pytest.param("{{ ''.__class__.__mro__ }}", id="O-H06"),
        pytest.param("{{ cycler.__init__.__globals__.os.popen('id') }}", id="O-H06 code"),
        pytest.param("file://../../secret.txt", id="O-H08"),
        pytest.param("FILE:///etc/passwd", id="O-H08 absolute"),
        pytest.param("https://example.org/rubric.txt", id="O-H08 fetched"),
    ],
)
@pytest.mark.parametrize("place", ["rule", "question", "anchor", "in", "out", "purpose"])
def test_nothing_is_filled_in_or_fetched(text: str, place: str) -> None:
    quoted = "'" + text.replace("'", "''") + "'"
    written = {
        "rule": rubric_text(extra=f"rules: [{quoted}]"),
        "purpose": rubric_text(extra=f"purpose: {quoted}"),
        "question": rubric_text(f"{{id: a, question: {quoted}}}"),
        "anchor": rubric_text(f"{{id: a, question: q, anchors: {{5: {quoted}}}}}"),
        "in": rubric_text(f"{{id: a, question: q, scope: {{in: [{quoted}]}}}}"),
        "out": rubric_text(f"{{id: a, question: q, scope: {{out: [{{what: {quoted}}}]}}}}"),
    }[place]
    error = error_of(written)
    assert "placeholder" in error.message or "address" in error.message
    assert error.where is not None
    assert error.where.line in (4, 5)


@pytest.mark.parametrize(
    "text",
    [
        r"the fraction \frac{a}{b} and x^{n}, a_{i}",
        'a JSON object such as {"a": {"b": 1}}',
        "an empty object {} or set {1, 2}",
        "100% of the items {in any order}",
        "prices in $ or EUR",
        "every link to https://example.org works",
        "file names and paths are exact",
        "see section: references",
    ],
)
def test_braces_and_addresses_inside_a_sentence_are_text(text: str) -> None:
    quoted = "'" + text.replace("'", "''") + "'"
    rubric = parse_rubric(rubric_text(f"{{id: a, question: {quoted}}}"))
    assert rubric.judged[0].question == text
