"""The probabilities of verdicts, by hand, at the tokens that spell one."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.client import TokenLogprob
from agentanvil.judge.distribution import Reading
from agentanvil.judge.score_tokens import number_spelling, read_value, value_tokens, word_spelling

FIVE = tuple(range(1, 6))
TEN = tuple(range(1, 11))
HUNDRED = tuple(range(101))
SIGNED = (-2, -1, 0, 1, 2)
PASSES = word_spelling((("true", 1), ("pass", 1), ("false", 0), ("fail", 0)))

Listed = Mapping[str, float]


def spelt(*steps: Listed, at: int = 0) -> tuple[TokenLogprob, ...]:
    """Tokens in a row from `at` on; the first of each step is the one that was written."""
    tokens: list[TokenLogprob] = []
    for step in steps:
        said = next(iter(step))
        top = sorted(((text, math.log(p)) for text, p in step.items()), key=lambda pair: -pair[1])
        tokens.append(TokenLogprob(at, said, math.log(step[said]), tuple(top)))
        at += len(said)
    return tuple(tokens)


def read(values: tuple[int, ...], said: int, *steps: Listed, at: int = 0) -> Reading | None:
    return read_value(spelt(*steps), at, number_spelling(values), said)


@pytest.mark.parametrize(
    ("listed", "expected", "mass"),
    [
        # 4 * 0.6 + 5 * 0.3 + 3 * 0.1
        ({"4": 0.6, "5": 0.3, "3": 0.1}, 4.2, 1.0),
        # what is no score lies outside: (4 * 0.6 + 2 * 0.2) / 0.8
        ({"4": 0.6, "2": 0.2, "null": 0.1, "x": 0.05}, 3.5, 0.8),
        # other spellings are the same score: (4 * 0.8 + 5 * 0.2) / 1.0
        ({"4": 0.3, " 4": 0.1, '"4': 0.1, "+4": 0.1, "4.0": 0.1, '"4"': 0.05, "4,": 0.05, " 5}": 0.2}, 4.2, 1.0),
        # off the scale, another number, or none: 4 alone
        ({"4": 0.5, "6": 0.1, "45": 0.1, "4.5": 0.1, "-4": 0.05, "4/": 0.05, "four": 0.05, "4e": 0.05}, 4.0, 0.5),
        # nothing but blanks and punctuation says nothing
        ({"4": 0.5, " ": 0.2, '"': 0.1, "": 0.1, "\n": 0.05}, 4.0, 0.5),
    ],
)
def test_a_digit_by_hand(listed: Listed, expected: float, mass: float) -> None:
    found = read(FIVE, 4, listed)
    assert found is not None
    assert found.expected == pytest.approx(expected, rel=1e-12)
    assert found.mass == pytest.approx(mass, rel=1e-12)


def test_entropy_is_over_all_scores_on_offer() -> None:
    found = read(FIVE, 4, {"4": 0.5, "5": 0.5})
    assert found is not None
    assert found.entropy == pytest.approx(math.log(2) / math.log(5))


@pytest.mark.parametrize(
    ("steps", "at"),
    [
        (({'{"score":4': 0.6, '{"score":5': 0.4},), 9),
        (({":4": 0.6, ":5": 0.4},), 1),
        (({" 4": 0.6, " 5": 0.4},), 1),
        (({'"4': 0.6, '"5': 0.4},), 1),
        (({' "4"}': 0.6, ' "5"}': 0.4},), 2),
        (({"4,": 0.6, "5,": 0.4},), 0),
        (({"4": 0.6, "5": 0.4}, {".": 1.0}, {"0": 1.0}), 0),
        (({"4.0": 0.6, "5.0": 0.4},), 0),
        (({"+": 1.0}, {"4": 0.6, "5": 0.4}), 0),
    ],
)
def test_a_token_may_hold_more_or_less_than_the_number(steps: Sequence[Listed], at: int) -> None:
    found = read(FIVE, 4, *steps, at=at)
    assert found is not None
    assert found.expected == pytest.approx(4.4)
    assert found.mass == pytest.approx(1.0)


def test_numbers_that_begin_alike_part_at_the_next_token() -> None:
    # 1 and 10 hold 0.8 together: a quarter of it ends after the 1. The rest is 2's.
    found = read(TEN, 10, {"1": 0.8, "2": 0.2}, {"0": 0.75, ",": 0.15, "}": 0.1})
    assert found is not None
    assert found.expected == pytest.approx(10 * 0.6 + 1 * 0.2 + 2 * 0.2)
    assert found.mass == pytest.approx(1.0)
    turned = read(TEN, 1, {"1": 0.8, "2": 0.2}, {",": 0.25, "0": 0.75})
    assert turned is not None
    assert turned.expected == pytest.approx(found.expected)


def test_a_number_that_goes_on_off_the_scale_lies_outside() -> None:
    # 12 is no score, and after the point 1 alone is open.
    found = read(TEN, 10, {"1": 1.0}, {"0": 0.5, "2": 0.2, ".": 0.1, " ": 0.1, "x": 0.1})
    assert found is not None
    assert found.expected == pytest.approx((10 * 0.5 + 1 * 0.2) / 0.7)
    assert found.mass == pytest.approx(0.7)


def test_a_way_not_taken_that_leaves_far_values_open_is_no_reading() -> None:
    # The 1 might have become 1 or 10: five times 4.5 is more than a hundredth of the scale.
    assert read(TEN, 8, {"8": 0.9, "1": 0.1}) is None


def test_a_way_not_taken_counts_in_equal_parts_where_it_cannot_matter() -> None:
    found = read(TEN, 8, {"8": 0.9, "9": 0.09, "1": 0.01})
    assert found is not None
    assert found.expected == pytest.approx(8 * 0.9 + 9 * 0.09 + 5.5 * 0.01)


def test_the_shorter_number_is_itself_beside_a_token_of_the_longer_one() -> None:
    found = read(TEN, 8, {"8": 0.6, "10": 0.2, "1": 0.2})
    assert found is not None
    assert found.expected == pytest.approx(8 * 0.6 + 10 * 0.2 + 1 * 0.2)
    own = read(TEN, 10, {"10": 0.5, "1": 0.5})
    assert own is not None
    assert own.expected == pytest.approx(5.5)


def test_digit_by_digit_a_hundred_scores_are_read_where_the_first_is_certain() -> None:
    sure = read(HUNDRED, 85, {"8": 1.0}, {"5": 0.5, "0": 0.25, "}": 0.25})
    assert sure is not None
    assert sure.expected == pytest.approx(85 * 0.5 + 80 * 0.25 + 8 * 0.25)
    assert read(HUNDRED, 85, {"8": 0.9, "7": 0.1}, {"5": 1.0}) is None
    whole = read(HUNDRED, 85, {"85": 0.5, "90": 0.3, "8": 0.1, "100": 0.1})
    assert whole is not None
    assert whole.expected == pytest.approx(85 * 0.5 + 90 * 0.3 + 8 * 0.1 + 100 * 0.1)


def test_three_tokens_of_one_number() -> None:
    found = read(HUNDRED, 100, {"1": 1.0}, {"0": 0.8, "}": 0.2}, {"0": 0.5, "}": 0.5})
    assert found is not None
    assert found.expected == pytest.approx(100 * 0.4 + 10 * 0.4 + 1 * 0.2)


@pytest.mark.parametrize("steps", [({"-2": 0.6, "-1": 0.2, "1": 0.2},), ({"-": 0.8, "1": 0.2}, {"2": 0.75, "1": 0.25})])
def test_numbers_below_zero(steps: Sequence[Listed]) -> None:
    found = read(SIGNED, -2, *steps)
    assert found is not None
    assert found.expected == pytest.approx(-2 * 0.6 - 1 * 0.2 + 1 * 0.2)


@pytest.mark.parametrize(
    ("listed", "said", "p_pass", "mass"),
    [
        ({"true": 0.7, "false": 0.2, "null": 0.1}, 1, 7 / 9, 0.9),
        ({" false": 0.6, "t": 0.3, "True": 0.1}, 0, 0.4, 1.0),
        ({"f": 0.6, "tr": 0.3, "treat": 0.1}, 0, 1 / 3, 0.9),
        ({'pass"': 0.6, "fail": 0.2, "p": 0.1, "passed": 0.1}, 1, 7 / 9, 0.9),
        ({"TRUE}": 1.0}, 1, 1.0, 1.0),
    ],
)
def test_a_gate_by_hand(listed: Listed, said: int, p_pass: float, mass: float) -> None:
    tokens = spelt(listed)
    found = read_value(tokens, len(tokens[0].text) - len(tokens[0].text.lstrip()), PASSES, said)
    assert found is not None
    assert found.expected == pytest.approx(p_pass)
    assert found.mass == pytest.approx(mass)


@pytest.mark.parametrize(
    ("tokens", "at", "said"),
    [
        ((), 0, 4),
        (spelt({"4": 1.0}), 1, 4),
        (spelt({"4": 1.0}), 0, 5),
        (spelt({"four": 1.0}), 0, 4),
        (spelt({"x": 1.0}), 0, 4),
        ((TokenLogprob(0, "4", -9999.0),), 0, 4),
    ],
    ids=["no tokens", "beyond them", "another verdict", "a word", "a letter", "impossible"],
)
def test_no_reading(tokens: tuple[TokenLogprob, ...], at: int, said: int) -> None:
    assert read_value(tokens, at, number_spelling(FIVE), said) is None


def test_a_token_that_is_missing_is_no_reading() -> None:
    whole = spelt({"1": 0.8, "2": 0.2}, {"0": 1.0}, {"}": 1.0})
    assert read_value(whole[:1], 0, number_spelling(TEN), 10) is None
    assert read_value((whole[0], whole[2]), 0, number_spelling(TEN), 10) is None


def test_only_the_tokens_of_the_number_are_read() -> None:
    tokens = spelt({'{"score": ': 1.0}, {"1": 0.8, "2": 0.2}, {"0": 0.9, "}": 0.1}, {"}": 1.0})
    few = value_tokens(tokens, 10, number_spelling(TEN))
    assert few == tokens[1:3]
    assert read_value(few, 10, number_spelling(TEN), 10) == read_value(tokens, 10, number_spelling(TEN), 10)


SCALES = st.integers(-20, 95).flatmap(lambda low: st.integers(low + 1, low + 12).map(lambda high: (low, high)))


@given(SCALES, st.data())
def test_one_token_a_number_is_the_distribution_itself(scale: tuple[int, int], data: st.DataObject) -> None:
    values = tuple(range(scale[0], scale[1] + 1))
    weights = data.draw(st.lists(st.floats(0.01, 1), min_size=len(values), max_size=len(values)))
    chosen = data.draw(st.sampled_from(values))
    p = {value: weight / sum(weights) for value, weight in zip(values, weights, strict=True)}
    ordered = {f"{chosen},": p[chosen], **{f"{value},": p[value] for value in values}}
    found = read(values, chosen, ordered)
    assert found is not None
    assert found.expected == pytest.approx(sum(value * q for value, q in p.items()))
    assert found.mass == pytest.approx(1.0)


@given(SCALES, st.data())
def test_digit_by_digit_the_way_that_was_taken_is_exact(scale: tuple[int, int], data: st.DataObject) -> None:
    values = tuple(range(scale[0], scale[1] + 1))
    chosen = data.draw(st.sampled_from(values))
    text = json.dumps(chosen) + "}"
    found = read(values, chosen, *({char: 1.0} for char in text))
    assert found == Reading(float(chosen), 0.0, 1.0)


TEXTS = st.text(alphabet='0123456789+-.e,}" tfalsrup\u0000é', max_size=6)
TOPS = st.lists(st.tuples(TEXTS, st.floats(-20, 0.5)), max_size=6).map(tuple)


@given(st.lists(st.builds(TokenLogprob, st.integers(-2, 9), TEXTS, st.floats(-20, 0.5), TOPS), max_size=5))
def test_whatever_the_tokens_hold_is_no_error(tokens: list[TokenLogprob]) -> None:
    tokens.sort(key=lambda token: token.at)
    for spelling, said in ((number_spelling(TEN), 1), (number_spelling(SIGNED), -1), (PASSES, 1)):
        for at in range(4):
            found = read_value(tokens, at, spelling, said)
            assert found is None or min(spelling.values) <= found.expected <= max(spelling.values)
