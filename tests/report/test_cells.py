from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.report.cells import MAX_CELL, cell_text, flag_cell, number_cell, text_cell

NO_SURROGATES = st.text(st.characters(exclude_categories=["Cs"]))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('=HYPERLINK("http://x.test","go")', id="O-F06"),
        pytest.param("+1", id="O-F07-plus"),
        pytest.param("-1 day", id="O-F07-minus"),
        pytest.param("@SUM(A1)", id="O-F07-at"),
        pytest.param("\t=1+1", id="O-F07-tab"),
        pytest.param("\u200b=1+1", id="O-F07-zero-width-space"),
        pytest.param(" =1", id="O-F07-space"),
        pytest.param("\r=1", id="carriage-return"),
        pytest.param("\n=1", id="line-feed"),
        pytest.param("\ttext", id="tab-alone"),
        pytest.param("\rtext", id="carriage-return-alone"),
        pytest.param("\ufeff=1", id="byte-order-mark"),
        pytest.param("\u00a0\u2003=1", id="other-spaces"),
        pytest.param("\u202e\u2066@x", id="bidi-controls"),
        pytest.param("\u00ad-1", id="soft-hyphen"),
        pytest.param("\u3164=1", id="hangul-filler"),
        pytest.param("\u2800+1", id="braille-blank"),
        pytest.param("\u034f=1", id="grapheme-joiner"),
        pytest.param("\ufe0f=1", id="variation-selector"),
        pytest.param("\U000e0020=1", id="tag-character"),
        pytest.param("\x00=1", id="null"),
        pytest.param("\x1b=1", id="escape"),
        pytest.param("＝1+1", id="full-width-equals"),
        pytest.param("＋1", id="full-width-plus"),
        pytest.param("－1", id="full-width-minus"),
        pytest.param("＠x", id="full-width-at"),
        pytest.param("﹦1", id="small-equals"),
        pytest.param("−1", id="minus-sign"),
        pytest.param("=", id="alone"),
    ],
)
def test_what_a_spreadsheet_would_run_is_neutralised(text: str) -> None:
    assert text_cell(text) == "'" + text


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "plain",
        "1+1",
        "a=b",
        "(=1)",
        "'tis",
        "''",
        '"=1"',
        " spaced",
        "naïve",
        "日本語",
        "🙂 =",
        "<script>",
        "#REF",
        "–1",
    ],
)
def test_other_text_is_left_alone(text: str) -> None:
    assert text_cell(text) == text


@given(NO_SURROGATES)
def test_a_cell_is_the_text_or_its_neutral_form(text: str) -> None:
    cell = text_cell(text)
    assert cell in (text, "'" + text)
    assert not cell.lstrip().startswith(("=", "+", "-", "@"))
    assert not cell.startswith(("\t", "\r", "\n"))


@given(st.tuples(st.sampled_from(["", "'", "''", "'\u200b", "'=", "'\t"]), NO_SURROGATES).map("".join))
def test_a_cell_gives_its_text_back(text: str) -> None:
    assert cell_text(text_cell(text)) == text


def test_text_that_looks_neutralised_already_is_told_from_what_was() -> None:
    assert [text_cell(text) for text in ("=1", "'=1", "''=1")] == ["'=1", "''=1", "'''=1"]


@pytest.mark.parametrize(
    ("char", "length"),
    [
        pytest.param("x", 40_000, id="O-F09"),
        pytest.param("x", MAX_CELL + 1, id="one-too-many"),
        pytest.param("é", 32_900, id="two-bytes"),
        pytest.param("🙂", 16_384, id="two-units-each"),
        pytest.param("=", MAX_CELL, id="the-apostrophe-counts"),
    ],
)
def test_long_text_is_cut_visibly(char: str, length: int) -> None:
    cell = text_cell(char * length)
    assert len(cell.encode("utf-16-le")) // 2 in (MAX_CELL, MAX_CELL - 1)
    assert "[cut: " in cell[-60:]
    assert cell.encode("utf-8").decode("utf-8") == cell


@pytest.mark.parametrize(("char", "length"), [("x", MAX_CELL), ("🙂", 16_383)])
def test_text_that_fits_is_whole(char: str, length: int) -> None:
    assert text_cell(char * length) == char * length


def test_numbers() -> None:
    assert [number_cell(v) for v in (4.0, 4, 0.5, -1.0, 11 / 3, None)] == [4, 4, 0.5, -1, 11 / 3, ""]
    assert str(number_cell(5.0)) == "5"


def test_flags() -> None:
    assert [flag_cell(v) for v in (True, False, None)] == ["true", "false", ""]
