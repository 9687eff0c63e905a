"""Verdicts of judges that cannot do JSON: one whole token from a closed list, right after the declared marker.

How a token is found (`reply:` in the rubric declares marker, labels and `select`):

- The marker stands at a word boundary (`downgrade:` is not `grade:`); letter case does not matter, emphasis
  (`**Score**:`) is passed over. A colon that the marker is declared with is required; otherwise it is optional.
- Labels match whole and without regard to case (with it, where two labels differ in nothing else) or to how wide a
  blank between words is. A number is one token: `10.0` is 10, `1998` is never 1.
- The token ends its statement: a line end, punctuation, a dash or a bracket follows. `GRADE: I think …` names no label.
  A label of several words is a statement of its own: it need only end where a word does.
- `4/5` and `4 out of 5` state 4 where 5 is the top of the scale; over another number they are out of range, and so are
  percents.
- Two different matches are ambiguous unless `select: first` or `last` is declared; a match that cannot be read is never
  skipped.
- Without a marker the whole reply must be the token; with `select: first` or `last` it must begin a line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from agentanvil.dataset import normal_form
from agentanvil.judge.excerpt import excerpt
from agentanvil.judge.refusal import is_refusal
from agentanvil.judge.verdicts import ParseFault, Verdict
from agentanvil.prompt import NOT_APPLICABLE, Contract, ContractDimension

_OPEN = r"(?P<open>[\s*_`\"'“‘(\[<]*+)"
_CLOSE = r"[*_`\"'”’)\]>]*+"
# No word goes on here: an underscore may be emphasis, but not between letters.
_APART = r"(?!_*+[^\W_])"
_END = re.compile(rf"{_CLOSE}[ \t]*(?:\Z|\n|\r|[.,;:!?](?=[\s*_`\"'”’)]|\Z)|(?<=\s)-+\s|[–—(])")
_WHOLE = re.compile(rf"{_CLOSE}\s*+[.!]?{_CLOSE}\s*+\Z")
_WORD_GOES_ON = re.compile(r"[^\W_]|[-_'’]\w")
_NUMBER = re.compile(rf"[+-]?(?:[0-9]+(?:[.,][0-9]+)*|\.[0-9]+){_APART}")
_FRACTION = re.compile(rf"{_CLOSE}\s*(?:/|out\s+of\b|of\b)\s*([0-9]+(?:\.[0-9]+)?){_APART}", re.IGNORECASE)
_PERCENT = re.compile(r"\s*(?:%|per\s?cent\b)", re.IGNORECASE)
_LINE = re.compile(rf"^{_OPEN}", re.MULTILINE)
# How far back from the end of a run of opening marks a token may begin with one of its own.
_MOST_OPEN = 8
# No label is longer; what stands at a place is looked at so far, however many places a reply has.
_LONGEST = 1_000
_ALTERNATIVE = re.compile(rf"{_CLOSE}\s*[,;]\s*{_OPEN}")

Reading = Verdict | ParseFault


class _Token(NamedTuple):
    """What a token states, where it ends, and whether it is a label of several words."""

    reading: Reading
    end: int
    phrase: bool


@dataclass(frozen=True, slots=True)
class _Offer:
    """The closed list: words (folded unless case tells them apart) and numbers, each with what it stands for."""

    words: Mapping[str, int | None]
    numbers: Mapping[float, int]
    pattern: re.Pattern[str] | None
    folded: bool
    top: int


@dataclass(frozen=True, slots=True)
class _Reader:
    """What is on offer, and the marker that it stands after; without one it is the whole reply or begins a line."""

    offer: _Offer
    marker: re.Pattern[str] | None
    brackets: bool


def read_labels(text: str, contract: Contract) -> Reading:
    """Return the verdict that a marked reply states.

    Faults: `unparseable`, `bad_label`, `out_of_range`, `ambiguous`, `refusal`.
    """
    reply, dimension = contract.reply, contract.dimensions[0]
    labels = tuple(reply.labels.items())
    reader = _reader(reply.format == "brackets", reply.marker, labels, dimension)
    plain = normal_form(text, "NFKC")
    readings = _readings(plain, reader, whole=reply.select == "only")
    if not readings:
        if is_refusal(plain):
            return ParseFault("refusal", "the judge declined to grade")
        return ParseFault("unparseable", f"no verdict in the declared form `{reply.format}` in: {excerpt(plain)}")
    if reply.select != "only":
        return readings[-1 if reply.select == "last" else 0]
    for reading in readings:
        if isinstance(reading, ParseFault):
            return reading
    if len({reading.score for reading in readings if isinstance(reading, Verdict)}) > 1:
        return ParseFault("ambiguous", "the reply states two different verdicts")
    return readings[0]


@lru_cache(maxsize=64)
def _reader(brackets: bool, marker: str, labels: tuple[tuple[str, int], ...], dimension: ContractDimension) -> _Reader:
    return _Reader(_offer(labels, dimension), _marker_pattern(marker, brackets=brackets), brackets)


def _offer(labels: tuple[tuple[str, int], ...], dimension: ContractDimension) -> _Offer:
    numbers: dict[float, int] = {} if labels else {float(score): score for score in dimension.scores}
    words: dict[str, int | None] = {}
    for label, score in labels:
        plain = " ".join(normal_form(label, "NFKC").split())
        if _NUMBER.fullmatch(plain) and "," not in plain:
            numbers[float(plain)] = score
        else:
            words[plain] = score
    if dimension.allow_na:
        words.setdefault(NOT_APPLICABLE, None)
    folded = {word.casefold(): score for word, score in words.items()}
    fold = len(folded) == len(words) or all(score == folded[word.casefold()] for word, score in words.items())
    longest_first = sorted(words, key=len, reverse=True)
    spelt = (r"\s+".join(map(re.escape, word.split())) for word in longest_first)
    pattern = re.compile("|".join(spelt), re.IGNORECASE if fold else 0) if words else None
    return _Offer(folded if fold else words, numbers, pattern, fold, dimension.scores[-1])


def _marker_pattern(marker: str, *, brackets: bool) -> re.Pattern[str] | None:
    plain = normal_form(marker, "NFKC").strip()
    opening = r"\[\[" if brackets else _OPEN
    core = plain.rstrip(":= ") or plain
    if not core:
        return re.compile(opening) if brackets else None
    before = r"(?<![^\W_])(?<!-)(?<![^\W_]_)(?<![^\W_]__)" if core[0].isalnum() else ""
    name = r"\s+".join(map(re.escape, core.split()))
    after = _APART if core[-1].isalnum() else ""
    separator = r"\s*[:=]" if core != plain else r"(?P<separator>\s*[:=])?"
    emphasis = r"[*_`\"']*"
    gap = rf"{emphasis}\s*" if brackets else ""
    return re.compile(rf"{before}{name}{after}{emphasis}{separator}{gap}{opening}", re.IGNORECASE)


def _readings(text: str, reader: _Reader, *, whole: bool) -> list[Reading]:
    if reader.marker is None:
        return _unmarked(text, reader.offer, whole=whole)
    readings: list[Reading] = []
    for match in reader.marker.finditer(text):
        reading = _bracketed(text, match.end(), reader.offer) if reader.brackets else _stated(text, match, reader.offer)
        if reading is not None:
            readings.append(reading)
    return readings


def _unmarked(text: str, offer: _Offer, *, whole: bool) -> list[Reading]:
    readings: list[Reading] = []
    for match in _LINE.finditer(text):
        token = _opened(text, match, offer)
        if token is not None and (_WHOLE.match(text, token.end) if whole else _ends(text, token)):
            readings.append(token.reading)
        if whole:
            break
    return readings


def _bracketed(text: str, start: int, offer: _Offer) -> Reading:
    closing = text.find("]]", start, start + _LONGEST)
    inner = text[start:closing].strip(" \t*_`\"'") if closing >= 0 else text[start : start + _LONGEST]
    token = _token(inner, 0, offer)
    return token.reading if token is not None and token.end == len(inner) and closing >= 0 else _bad(inner)


def _stated(text: str, match: re.Match[str], offer: _Offer) -> Reading | None:
    token = _opened(text, match, offer)
    if token is not None and _ends(text, token):
        other = _ALTERNATIVE.match(text, token.end)
        second = _opened(text, other, offer) if other else None
        differs = second is not None and isinstance(second.reading, Verdict) and second.reading != token.reading
        if second is not None and differs and _END.match(text, second.end):
            return ParseFault("ambiguous", "the reply states two different verdicts at one marker")
        return token.reading
    if "separator" in match.groupdict() and match["separator"] is None:
        return None  # the marker's word in prose
    return _bad(text[match.end() : match.end() + _LONGEST])


def _ends(text: str, token: _Token) -> bool:
    """Tell whether a token is all that its place states."""
    if _END.match(text, token.end):
        return True
    return token.phrase and not (text[token.end - 1].isalnum() and _WORD_GOES_ON.match(text, token.end))


def _opened(text: str, match: re.Match[str], offer: _Offer) -> _Token | None:
    """Return the token behind a run of opening brackets and marks, of which it may have the last ones itself."""
    first = max(match.start("open"), match.end() - _MOST_OPEN)
    tokens = (_token(text, start, offer) for start in range(first, match.end() + 1))
    return next((token for token in tokens if token is not None), None)


def _token(text: str, start: int, offer: _Offer) -> _Token | None:
    """Return the token that begins at `start`, None where none of the list does."""
    word = offer.pattern.match(text, start) if offer.pattern else None
    if word:
        said = " ".join(word.group().split())
        key = said.casefold() if offer.folded else said
        # a letter may match one that folds to another: a dotless i is matched by an i
        return _Token(Verdict(offer.words[key]), word.end(), " " in key) if key in offer.words else None
    number = _NUMBER.match(text, start)
    return _Token(*_number(text, number, offer), phrase=False) if number else None


def _number(text: str, number: re.Match[str], offer: _Offer) -> tuple[Reading, int]:
    stated, end = number.group(), number.end()
    percent, fraction = _PERCENT.match(text, end), _FRACTION.match(text, end)
    if percent:
        return _off_scale(f"{stated}%"), percent.end()
    if fraction:
        end = fraction.end()
    if "," in stated or stated.count(".") > 1:
        return _bad(stated), end
    score = offer.numbers.get(float(stated))
    if fraction and float(fraction[1]) != offer.top:
        score = None
    if score is None:
        return (_off_scale(text[number.start() : end]) if offer.numbers else _bad(stated)), end
    return Verdict(score), end


def _off_scale(said: str) -> ParseFault:
    return ParseFault("out_of_range", f"`{excerpt(said)}` is not on offer")


def _bad(said: str) -> ParseFault:
    return ParseFault("bad_label", f"no label on offer in: {excerpt(said)}")
