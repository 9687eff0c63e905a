"""Quotes: found after folding, in order around an ellipsis, in response or source, never in the request."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.judge.evidence import JudgedText, fold, is_blank

RESPONSE = (
    "The sky “looks” blue – mostly.\n\nIt's due to\u00a0Rayleigh scattering…\n"
    "Red light   scatters less. Straße, ﬁne, naïve. 100 %"
)


@pytest.mark.parametrize(
    "quote",
    [
        pytest.param("Red light", id="letter for letter"),
        pytest.param("red LIGHT scatters", id="case and white space"),
        pytest.param("mostly. It's due", id="across lines"),
        pytest.param('The sky "looks" blue', id="straight quotation marks"),
        pytest.param("The sky 'looks' blue", id="single quotation marks"),
        pytest.param("It’s due", id="curly apostrophe"),
        pytest.param("blue - mostly", id="hyphen for a dash"),
        pytest.param("blue — mostly", id="long dash"),
        pytest.param("to Rayleigh", id="blank for a no-break space"),
        pytest.param("scattering...", id="three dots for an ellipsis character"),
        pytest.param("STRASSE", id="sharp s"),
        pytest.param("fine", id="ligature"),
        pytest.param("nai\u0308ve", id="combining mark"),
        pytest.param("１００", id="full-width digits"),
        pytest.param('"Red light scatters less."', id="in quotation marks"),
        pytest.param("“Red light scatters less”.", id="in curly ones, with a full stop"),
        pytest.param("«Red light»", id="in guillemets"),
        pytest.param("「Red light」", id="in corner brackets"),
        pytest.param("'Red light'", id="in single ones"),
        pytest.param("The sky … scatters less", id="ellipsis character"),
        pytest.param("The sky ... due to ... less.", id="two ellipses"),
        pytest.param("The sky [...] scatters less", id="bracketed ellipsis"),
        pytest.param("The sky (…) scatters less", id="ellipsis in round brackets"),
        pytest.param("…Red light…", id="ellipses around"),
        pytest.param('"The sky..." "...less"', id="two quotes in one"),
        pytest.param("Red\u200b light", id="invisible character"),
    ],
)
def test_found(quote: str) -> None:
    assert JudgedText((RESPONSE,)).holds(quote)


@pytest.mark.parametrize(
    "quote",
    [
        pytest.param("Green light", id="another word"),
        pytest.param("Redlight", id="no blank"),
        pytest.param("scatters less … The sky", id="parts out of order"),
        pytest.param("The sky … Mars", id="one part missing"),
        pytest.param("Red light scatters less, and so on", id="more than stands there"),
        pytest.param("What is asked", id="the request"),
        pytest.param('""', id="nothing in quotation marks"),
        pytest.param("Red light … light scatters", id="overlapping parts"),
    ],
)
def test_not_found(quote: str) -> None:
    assert not JudgedText((RESPONSE,)).holds(quote)


def test_a_passage_of_the_source_counts_and_parts_must_share_one_text() -> None:
    text = JudgedText(("It opened in 1889.", "Opened 1889.", "Painted brown."))
    assert text.holds("painted BROWN")
    assert text.holds_all(["opened in 1889", "Opened 1889"])
    assert not text.holds("Opened 1889 … Painted brown")
    assert not text.holds_all(["opened in 1889", "painted red"])


def test_a_part_is_not_found_twice_in_one_place() -> None:
    assert not JudgedText(("only once",)).holds("once … once")
    assert JudgedText(("once and once",)).holds("once … once")


TEXT = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=60)


@given(TEXT, st.data())
def test_any_piece_of_the_response_is_found(response: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(response) - 1))
    piece = response[start : data.draw(st.integers(start + 1, len(response)))]
    assert JudgedText((response,)).holds(piece)


@given(st.text(st.characters(max_codepoint=127), max_size=60))
def test_the_short_way_for_ascii_folds_as_the_long_one(text: str) -> None:
    assert fold(text) == fold(f"{text} é")[: -len(" é")].strip() or not text.strip()


@given(st.text(max_size=40))
def test_folding_twice_changes_nothing_more(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@pytest.mark.parametrize("evidence", ["", " \n", "…", "...", " [...] ", '""', "“”", "-", "—", ". . .", "\u200b", "(…)"])
def test_marks_alone_are_no_evidence(evidence: str) -> None:
    assert is_blank(evidence)


@pytest.mark.parametrize("evidence", ["a", "0", "👍", "[]", "{}", "()", "…a", "日", "*"])
def test_anything_else_is(evidence: str) -> None:
    assert not is_blank(evidence)
