from __future__ import annotations

import math
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.client import TokenLogprob
from agentanvil.judge.logprobs import NEAREST, Preference, preference

LABELS = ("A", "B", "tie")
BEFORE = '{"winner":"'


def token(at: int, said: str, listed: Mapping[str, float]) -> TokenLogprob:
    return TokenLogprob(at, said, math.log(listed[said]), tuple((text, math.log(p)) for text, p in listed.items()))


def read(listed: Mapping[str, float], said: str = "A") -> Preference | None:
    """Return the reading where the token after `{"winner":"` has these alternatives."""
    tokens = (TokenLogprob(0, BEFORE, -0.1), token(len(BEFORE), said, listed), TokenLogprob(12, '"}', -0.1))
    return preference(tokens, len(BEFORE), LABELS)


def odds(p: float) -> float:
    return math.log(p / (1 - p))


@pytest.mark.parametrize(
    ("listed", "p_first", "mass"),
    [
        # all three: (0.6 + 0.1 / 2) / 0.9
        ({"A": 0.6, "B": 0.2, "tie": 0.1, "x": 0.05}, 13 / 18, 0.9),
        # no tie among them: 0.6 / 0.8
        ({"A": 0.6, "B": 0.2, "x": 0.05}, 3 / 4, 0.8),
        # other spellings are the same label: 0.65 / (0.65 + 0.3)
        ({"A": 0.4, " A": 0.1, '"A': 0.05, 'A"': 0.05, 'A"}': 0.03, "a": 0.02, "B": 0.2, '"B"': 0.1}, 13 / 19, 0.95),
        # the beginning of `tie` stands for it: (0.6 + 0.1) / 1.0
        ({"A": 0.6, "B": 0.2, "t": 0.1, "ti": 0.1}, 0.7, 1.0),
        # longer words, blanks and quotation marks are not labels: 0.3 / 0.4
        ({"A": 0.3, "B": 0.1, "All": 0.2, "Both": 0.1, "ties": 0.1, '"': 0.1, " ": 0.05, "": 0.05}, 3 / 4, 0.4),
        # B is not listed: at most 0.03, the smallest listed; but only 0.02 is left: 0.95 / 0.97
        ({"A": 0.95, "x": 0.03}, 95 / 97, 0.95),
        # B is not listed: 0.49 is left, but at most 0.01 can be its: 0.5 / 0.51
        ({"A": 0.5, "x": 0.01}, 50 / 51, 0.5),
        # the one token that was chosen: 0.7 / (0.7 + 0.3)
        ({"A": 0.7}, 0.7, 0.7),
        # a tie alone leaves both alike
        ({"tie": 0.9, "x": 0.1}, 0.5, 0.9),
        # a label may be followed by anything but a longer word
        ({"A ": 0.3, "B.": 0.1}, 3 / 4, 0.4),
    ],
)
def test_by_hand(listed: dict[str, float], p_first: float, mass: float) -> None:
    found = read(listed, next(iter(listed)))
    assert found is not None
    assert found.p_first == pytest.approx(p_first, rel=1e-12)
    assert found.mass == pytest.approx(mass, rel=1e-12)


@pytest.mark.parametrize("listed", [{"x": 0.9}, {"null": 0.6, "C": 0.4}, {'"': 1.0}])
def test_no_label_no_reading(listed: dict[str, float]) -> None:
    assert read(listed, next(iter(listed))) is None


def test_the_chosen_token_counts_though_the_list_left_it_out() -> None:
    chosen = TokenLogprob(0, "B", math.log(0.2), (("A", math.log(0.6)),))
    found = preference((chosen,), 0, LABELS)
    assert found is not None
    assert found.p_first == pytest.approx(3 / 4)


@pytest.mark.parametrize(
    ("top", "p_first"),
    [
        ((("A", 0.0), ("B", -9999.0)), 1 - NEAREST),
        ((("B", 0.0), ("A", -9999.0)), NEAREST),
        ((("A", 1e-6),), 1 - NEAREST),
    ],
)
def test_certainty_keeps_its_log_odds_finite(top: tuple[tuple[str, float], ...], p_first: float) -> None:
    found = preference((TokenLogprob(0, top[0][0], top[0][1], top),), 0, LABELS)
    assert found == Preference(p_first, 1.0)
    assert odds(p_first) == pytest.approx(math.copysign(16.6, p_first - 0.5), abs=0.1)


def test_labels_without_any_probability_are_no_reading() -> None:
    assert preference((TokenLogprob(0, "A", -9999.0, (("A", -9999.0), ("B", -9999.0))),), 0, LABELS) is None


@pytest.mark.parametrize(
    ("at", "said", "other"),
    [
        (11, "A", "B"),
        (10, '"A', '"B'),
        (10, '"A"}', '"B"}'),
        (9, ':"A', ':"B'),
        (0, '{"winner":"A"}', '{"winner":"B"}'),
    ],
)
def test_the_token_may_hold_more_than_the_label(at: int, said: str, other: str) -> None:
    found = preference((token(at, said, {said: 0.6, other: 0.2}),), len(BEFORE), LABELS)
    assert found is not None
    assert found.p_first == pytest.approx(3 / 4)


def test_labels_that_begin_alike_are_read_where_they_part() -> None:
    labels = ("Response_a", "Response_b", "neither")
    tokens = (
        token(4, "response", {"response": 0.9, "neither": 0.1}),
        token(12, "_b", {"_b": 0.6, "_a": 0.2, "_": 0.1, "_c": 0.05}),
    )
    found = preference(tokens, 4, labels)
    assert found is not None
    assert found.p_first == pytest.approx(1 / 4)
    assert found.mass == pytest.approx(0.8)


def test_no_token_where_the_label_is() -> None:
    assert preference((), 3, LABELS) is None
    assert preference((TokenLogprob(0, "A", -0.1),), 3, LABELS) is None


PROBABILITIES = st.lists(st.floats(0.001, 1.0), min_size=4, max_size=4)


@given(PROBABILITIES)
def test_exchanging_the_labels_mirrors_the_reading(weights: list[float]) -> None:
    a, b, tie, rest = (weight / sum(weights) for weight in weights)
    one = read({"A": a, "B": b, "tie": tie, "x": rest})
    other = read({"A": b, "B": a, "tie": tie, "x": rest})
    assert one is not None
    assert other is not None
    assert one.p_first == pytest.approx(1 - other.p_first)
    assert one.mass == pytest.approx(other.mass) == pytest.approx(a + b + tie)


@given(st.floats(-4, 4), st.floats(-8, 8))
def test_a_position_preference_cancels_over_both_orders(quality: float, position: float) -> None:
    def shown_first(advantage: float) -> float:
        p = 1 / (1 + math.exp(-(advantage + position)))
        found = read({"A": p, "B": 1 - p})
        assert found is not None
        return odds(found.p_first)

    assert (shown_first(quality) - shown_first(-quality)) / 2 == pytest.approx(quality, abs=1e-6)
