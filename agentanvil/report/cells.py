"""One CSV cell: text that no spreadsheet runs or chokes on and that can be had back, numbers that stay numbers."""

from __future__ import annotations

import unicodedata
from string import ascii_letters, digits

# What a spreadsheet holds in one cell, counted in UTF-16 units.
MAX_CELL = 32_767
_NEUTRAL = "'"
_LEADS_FORMULA = frozenset("=+-@\N{MINUS SIGN}")
_LEADS_ENTRY = frozenset("\t\r\n")
# A visible first character other than the above cannot start a formula: most texts need no closer look.
_HARMLESS_FIRST = frozenset(ascii_letters + digits + '"([{<*#_`~$&!?.,;:/\\|%^>)]}')
# Letters and symbols that print as nothing, unlike the rest of their Unicode categories.
_BLANKS = frozenset(
    "\N{HANGUL CHOSEONG FILLER}\N{HANGUL JUNGSEONG FILLER}\N{HANGUL FILLER}\N{HALFWIDTH HANGUL FILLER}"
    "\N{BRAILLE PATTERN BLANK}"
)


def text_cell(text: str) -> str:
    """Return text for a CSV cell; quoting is the CSV writer's work.

    Text whose first visible character would start a formula (full-width forms included), or that starts with
    a tab or line break, gets a leading apostrophe. So does such text behind apostrophes of its own, that no two
    texts share a cell. Text longer than a spreadsheet's cell is cut with a mark.
    """
    if not text:
        return text
    if text[0] not in _HARMLESS_FIRST and _is_neutralised(text):
        text = _NEUTRAL + text
    # Two UTF-16 units at most for each character: only longer texts need counting.
    return text if len(text) * 2 <= MAX_CELL else _cut(text)


def cell_text(cell: str) -> str:
    """Return the text that `text_cell` made this cell of; what was cut off stays away."""
    marked = cell.startswith(_NEUTRAL) and _is_neutralised(cell[len(_NEUTRAL) :])
    return cell[len(_NEUTRAL) :] if marked else cell


def number_cell(value: float | None) -> float | int | str:
    """Return a number for the CSV writer: whole ones without `.0`, others in full, None as an empty cell."""
    if value is None:
        return ""
    whole = int(value)
    return whole if whole == value else value


def flag_cell(value: bool | None) -> str:
    """Return `true`, `false`, or an empty cell."""
    if value is None:
        return ""
    return "true" if value else "false"


def _is_neutralised(text: str) -> bool:
    return _starts_formula(text.lstrip(_NEUTRAL))


def _starts_formula(text: str) -> bool:
    if text[:1] in _LEADS_ENTRY:
        return True
    first = next((char for char in text if not _hidden(char)), "")
    return bool(first) and unicodedata.normalize("NFKC", first)[0] in _LEADS_FORMULA


def _hidden(char: str) -> bool:
    return unicodedata.category(char)[0] in "CZM" or char in _BLANKS


def _cut(text: str) -> str:
    units = text.encode("utf-16-le", "replace")
    if len(units) <= 2 * MAX_CELL:
        return text
    mark = f" … [cut: {len(text)} characters in all]"
    # A pair of units cut in half is dropped by the decoder.
    return units[: 2 * (MAX_CELL - len(mark))].decode("utf-16-le", "ignore") + mark
