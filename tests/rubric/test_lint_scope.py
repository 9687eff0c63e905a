"""Whose matter is it? Texts that mean one matter are found, and neighbours that only share a word are not."""

from __future__ import annotations

import time

import pytest

from agentanvil.rubric import Dimension, Exclusion, Rubric, Scale, Scope, lint_rubric

ANCHORS = {5: "no error", 3: "exactly one error", 1: "two or more errors"}


def dimension(name: str, inside: tuple[str, ...] = (), *outside: tuple[str, str | None]) -> Dimension:
    return Dimension(name, "Is each claim true?", ANCHORS, Scope(inside, tuple(Exclusion(*one) for one in outside)))


def codes(*dimensions: Dimension) -> list[str]:
    return [found.code for found in lint_rubric(Rubric("made", 1, Scale(1, 5), dimensions, calls="split"))]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("figures", "Figures."),
        ("figures", "figures in tables"),
        ("factual claims", "claims of fact"),
        ("factual accuracy", "correctness of the facts"),
        ("politeness", "whether it is polite"),
        ("tone and wording", "spelling, wording"),
        ("the arguments of the call", "call arguments"),
        ("how the tool was selected", "choice of tool"),
        ("statements about dates", "claims about dates"),
    ],
)
def test_one_matter_in_other_words(one: str, other: str) -> None:
    assert codes(dimension("a", (one,)), dimension("b", (other,))) == ["R301"]
    assert codes(dimension("b", (other,)), dimension("a", (one,))) == ["R301"]
    assert codes(dimension("a", (one,)), dimension("b", (other,), ("dates of birth", "a"))) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("figures", "missing figures"),
        ("steps", "order of the steps"),
        ("steps", "redundant steps"),
        ("facts and figures", "missing facts and figures"),
        ("tool calls", "tool results"),
        ("tone", "tonality"),
        ("questions asked", "requested format"),
        ("the answer", "the answers"),
        ("优秀", "数字"),
    ],
)
def test_neighbours_that_share_a_word_are_two_matters(one: str, other: str) -> None:
    assert codes(dimension("a", (one,)), dimension("b", (other,))) == []


@pytest.mark.parametrize(
    ("inside", "outside", "found"),
    [
        ("figures", "figures", ["R303"]),
        ("figures in tables", "figures", ["R303"]),
        ("tone", "tone and formatting", ["R303"]),
        ("figures", "figures in tables", []),
        ("order of calls", "calls", []),
        ("missing figures", "whether figures are right", []),
    ],
)
def test_an_exclusion_takes_its_own_ground_away_or_carves_a_part_out(
    inside: str, outside: str, found: list[str]
) -> None:
    assert codes(dimension("a", (inside,), (outside, "b")), dimension("b")) == found


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        (("tone", "b"), ("tone", "a"), ["R305"]),
        (("tone", "b"), ("tone of voice", "a"), ["R305"]),
        (("tone of mails", "b"), ("tone", None), ["R305"]),
        (("tone", "b"), ("tone of jokes", None), []),
        (("tone", "b"), ("length", "a"), []),
        (("tone", None), ("tone", None), []),
    ],
)
def test_a_matter_that_is_sent_on_is_kept_by_somebody_or_by_nobody(
    first: tuple[str, str | None], second: tuple[str, str | None], found: list[str]
) -> None:
    assert codes(dimension("a", (), first), dimension("b", (), second)) == found


def test_a_missing_sibling_is_told_the_nearest() -> None:
    rubric = Rubric("m", 1, Scale(1, 5), (dimension("tone"), dimension("a", (), ("insults", "tones"))))
    (found,) = lint_rubric(rubric)
    assert found.message.startswith("a leaves `insults` to `tones`, which is not there (did you mean `tone`?): ")


def test_a_message_repeats_no_more_of_a_text_than_tells_it_apart() -> None:
    long = "figures " * 5_000
    crowd = (dimension("a", (long,), (long, "c")), dimension("b", (long,)), dimension("d", (long,)))
    found = lint_rubric(Rubric("m", 1, Scale(1, 5), crowd))
    assert {one.code for one in found} == {"R301", "R302", "R303"}
    assert all(len(one.message) < 400 for one in found)


def test_scopes_without_end_are_read_in_time() -> None:
    many = tuple(f"matter {n} shared" for n in range(150))
    crowd = [dimension(f"d{n}", many, *((text, f"d{(n + 1) % 64}") for text in many)) for n in range(64)]
    begun = time.perf_counter()
    assert "R305" in codes(*crowd)
    assert time.perf_counter() - begun < 15
