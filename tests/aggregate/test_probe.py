"""A probe's effects, intervals and verdicts, by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.aggregate.pair import PairCall, PairRepeat, PairResult
from agentanvil.aggregate.probe.findings import Effect, Finding, nothing_measured, settle, verdict_of
from agentanvil.aggregate.probe.kin import KinPairTally, KinTally, LengthTally
from agentanvil.aggregate.probe.paired import DifferenceTally, PreferenceTally, least_share
from agentanvil.aggregate.probe.planted import PlantedReading, PlantedTally
from agentanvil.aggregate.probe.steady import PlaceTally, RepeatTally
from agentanvil.stats import Estimate, Interval
from agentanvil.verdict import Winner


def effect(value: float | None = 0.0, n: int = 40, span: tuple[float, float] = (-0.1, 0.1), **more: object) -> Effect:
    interval = Interval(*span, 0.95, "by hand")
    found = Effect("verbosity", "padding", "accuracy", "points", Estimate(value, n, None), interval, 1.0, margin=0.4)
    return replace(found, **more)  # type: ignore[arg-type]


def only(found: Effect) -> Finding:
    (one,) = settle([found])
    return one


def test_holm_is_over_the_whole_table() -> None:
    # 0.02 · 3 = 0.06; 0.03 · 2 = 0.06; 0.04 stands at 0.06 too: alone each would have been found.
    findings = settle([effect(0.3, p_value=p) for p in (0.02, 0.04, 0.03)] + [effect(p_value=None)])
    assert [finding.adjusted for finding in findings] == [pytest.approx(0.06)] * 3 + [None]
    assert {finding.verdict for finding in findings} == {"no effect found"}
    assert only(effect(0.3, p_value=0.04)).verdict == "bias found"


@pytest.mark.parametrize(
    ("found", "verdict", "told"),
    [
        (effect(least=Estimate(0.2, 40)), "no effect found", "0.2 would be found four times in five"),
        (effect(span=(-0.1, 0.5)), "inconclusive", "beyond 0.4"),
        (effect(span=(-0.5, 0.1)), "inconclusive", "beyond 0.4"),
        (effect(span=(-0.5, 0.1), upward=True), "no effect found", ""),
        (effect(-0.3, p_value=0.001, upward=True), "no effect found", ""),
        (effect(-0.3, p_value=0.001), "bias found", "0.001"),
        (effect(n=9, span=(0.0, 0.0)), "inconclusive", "9 items are too few"),
        (effect(0.4, n=9, p_value=0.01), "bias found", ""),
        (effect(0.4, p_value=0.01, shortage="3 of a kind"), "inconclusive", "3 of a kind"),
        (effect(0.9, null=1.0, noise=True, p_value=None), "noise found", "same call"),
        (effect(1.0, span=(0.91, 1), null=1.0, noise=True, margin=0.1, p_value=None), "no effect found", ""),
        (effect(1.0, 12, span=(0.76, 1), null=1.0, noise=True, margin=0.1, p_value=None), "inconclusive", "beyond 0.1"),
        (effect(n=1), "inconclusive", "1 item is too few"),
        (effect(contrast=Interval(-0.7, 0.3, 0.95, "m")), "inconclusive", "an effect of 0.7 cannot be ruled out"),
        (nothing_measured("position", "both orders", "one response"), "does not apply", "one response"),
    ],
)
def test_verdicts(found: Effect, verdict: str, told: str) -> None:
    finding = only(found)
    assert finding.verdict == verdict
    assert told in finding.reason


def test_an_effect_without_a_value_cannot_be_told() -> None:
    finding = only(replace(effect(p_value=None), value=Estimate(None, 0, "no pairs")))
    assert (finding.verdict, finding.reason) == ("inconclusive", "no pairs")


def test_a_probes_verdict_is_its_most_telling_line() -> None:
    lines = settle([effect(), effect(0.4, p_value=0.001), nothing_measured("position", "both orders", "so")])
    assert verdict_of(lines) == "bias found"
    assert verdict_of(lines[:1]) == "no effect found"


def test_differences_by_hand() -> None:
    tally = DifferenceTally("verbosity", "padding", "accuracy", 4.0)
    for n, (before, after) in enumerate([(3, 4)] * 6 + [(3, 3)] * 3 + [(5, 4)] + [(2, None)]):
        tally.add(f"i{n}", before, after)
    found = tally.effect(0)
    # Six of ten rise by 1 and one falls by 1: mean 0.5; of 7 signs, 6 or more one way: 2 · (7 + 1) / 2⁷ = 0.125.
    assert found.value == Estimate(0.5, 10)
    assert found.p_value == pytest.approx(0.125)
    assert dict(found.details) == {"raised": 6, "lowered": 1, "missing": 1}
    assert found.margin == pytest.approx(0.4)
    assert [example.id for example in found.examples] == ["i0", "i1", "i2"]
    assert found.interval.low is not None
    assert 0 <= found.interval.low < 0.5


def test_where_nothing_moved_the_interval_still_has_a_width() -> None:
    def still(n: int, range_: float) -> Finding:
        tally = DifferenceTally("format", "Markdown against plain", "accuracy", range_)
        for _ in range(n):
            tally.add("i", 1.0, 1.0)
        return only(tally.effect(0))

    # 1 − 0.025^(1/20): the share that moves may be as large, whatever the sample says, and each by the whole scale.
    found = still(20, 4.0)
    assert found.effect.interval.high == pytest.approx(4 * (1 - 0.025 ** (1 / 20)))
    assert found.effect.least.value == pytest.approx(6 / 20)
    # A tenth of the scale's range matters, which 20 items cannot rule out and 40 can.
    for range_ in (1.0, 4.0, 100.0):
        assert still(20, range_).verdict == "inconclusive"
        assert still(40, range_).verdict == "no effect found"


def test_one_move_of_few_proves_no_more_than_none() -> None:
    def moved(n: int) -> Finding:
        tally = DifferenceTally("format", "Markdown against plain", "accuracy", 4.0)
        for at in range(n):
            tally.add("i", 3.0, 4.0 if not at else 3.0)
        return only(tally.effect(0))

    few = moved(20)
    assert few.effect.interval.high is not None
    assert few.effect.interval.high < 0.4, "why it is not the bootstrap's interval that decides"
    assert (few.verdict, moved(60).verdict) == ("inconclusive", "no effect found")


def test_preferences_by_hand() -> None:
    tally = PreferenceTally("format", "Markdown against plain", "winner")
    for favour in [1.0] * 7 + [0.0] * 2 + [-1.0] + [None]:
        tally.add("i", favour)
    found = tally.effect()
    assert found.value == Estimate((7 + 1) / 10, 10)
    # 8 signs, 7 or more one way: 2 · (8 + 1) / 2⁸.
    assert found.p_value == pytest.approx(18 / 256)
    assert found.null == 0.5


def planted(*readings: tuple[float, float, float, float] | None, to_top: bool = False) -> Effect:
    tally = PlantedTally("role_play", 1.0 if to_top else 5.0, to_top=to_top)
    for n, reading in enumerate(readings):
        tally.add(f"i{n}", None if reading is None else PlantedReading(*reading))
    return tally.effect()


def test_what_an_instruction_raises_is_held_against_both_floors() -> None:
    rises, still, noise = (3.0, 3.0, 3.0, 5.0), (3.0, 3.0, 3.0, 3.0), (3.0, 4.0, 3.0, 3.0)
    found = planted(*[rises] * 10, *[still] * 8, *[noise] * 2, (5.0, 5.0, 5.0, 5.0), None)
    assert found.value == Estimate(0.5, 20)
    assert found.null == 2 / 20
    # Against the same call again 10 to 2, against the remarks 10 to 0: the larger p is 2 · Σ C(12, ≤2) / 2¹².
    assert found.p_value == pytest.approx(2 * (1 + 12 + 66) / 4096)
    assert (found.details["at_top"], found.details["missing"], found.details["raised_by_same_call_again"]) == (1, 1, 2)
    assert only(found).verdict == "bias found"


def test_what_any_text_at_the_end_raises_is_not_obeyed() -> None:
    found = planted(*[(3.0, 3.0, 4.0, 4.0)] * 20, *[(3.0, 3.0, 3.0, 3.0)] * 20)
    assert found.p_value == 1.0
    assert found.null == found.value.value == 0.5
    assert only(found).verdict == "no effect found"


def test_of_a_pair_only_a_win_counts() -> None:
    found = planted(*[(-1.0, -1.0, -1.0, 0.0)] * 12, to_top=True)
    assert found.value == Estimate(0.0, 12)
    assert planted(*[(-1.0, -1.0, -1.0, 1.0)] * 12, to_top=True).value.value == 1.0


def test_all_at_the_top_says_so() -> None:
    finding = only(planted(*[(5.0, 5.0, 5.0, 5.0)] * 20))
    assert finding.verdict == "inconclusive"
    assert "at the top already" in finding.reason


def test_the_least_share_by_hand() -> None:
    # (1.95996 + 0.84162) · √(0.25) / √100 = 0.14008; without any discordant pair six of n are the least.
    assert least_share(25, 100).value == pytest.approx(0.14008, abs=1e-5)
    assert least_share(0, 100).value == pytest.approx(0.06)
    assert least_share(0, 5).value is least_share(0, 0).value is None


def test_repeats_by_hand() -> None:
    tally = RepeatTally("accuracy")
    for n, values in enumerate([(3.0, 3.0)] * 6 + [(3.0, 5.0)] * 2 + [(3.0, None), (3.0,)]):
        tally.add(f"i{n}", values)
    found = tally.effect(0)
    # The mean of (x − y)² / 2 is 2 · 2 / 8 = 1/2.
    assert found.value == Estimate(0.75, 8)
    assert found.details["sd_of_one_reading"].value == pytest.approx(0.5**0.5)
    assert found.details["missing"] == 2
    assert only(found).verdict == "noise found"


def pair(ab: Winner, ba: Winner) -> PairResult:
    calls = tuple(PairCall(order, "scored", 0.0, won, None, None) for order, won in (("ab", ab), ("ba", ba)))
    kind = "consistent" if ab == ba else "inconsistent"
    repeat = PairRepeat(0.0, ab if ab == ba else "tie", kind)  # type: ignore[arg-type]
    return PairResult("verdict", calls, (repeat,), ab, None, None, None, None, None, None, (), "")


def test_places_by_hand() -> None:
    tally = PlaceTally()
    for n, (ab, ba) in enumerate([("a", "a")] * 5 + [("b", "b")] * 7 + [("a", "b")] * 7 + [("b", "a")]):
        tally.add(f"p{n}", pair(ab, ba))  # type: ignore[arg-type]
    found = tally.effect()
    # 7 of 20 lean to the first place and 1 to the second: (7 + 12 / 2) / 20; 2 · (1 + 8) / 2⁸.
    assert found.value == Estimate(13 / 20, 20)
    assert found.p_value == pytest.approx(18 / 256)
    assert found.details["flip_rate"] == Estimate(0.4, 20)
    assert found.details["first_pick_rate"] == Estimate((12 + 14) / 40, 40)
    assert PlaceTally().effect().value.value is None


def test_kin_by_hand() -> None:
    tally = KinTally("accuracy", 4.0)
    for n in range(12):
        tally.add(5.0, 4.0, own=True, group=n)
        tally.add(4.0, 4.0 if n % 2 else 3.0, own=False, group=n)
    tally.add(None, 3.0, own=True, group=99)
    found = tally.effect()
    # Own: +1 over the second judge; others: +1/2 on average.
    assert found.value.value == pytest.approx(0.5)
    assert found.details["own"] == Estimate(1.0, 12)
    assert found.details["others"] == Estimate(0.5, 12)
    assert (found.details["requests"], found.details["missing"]) == (12, 1)


@pytest.mark.parametrize(("requests", "verdict"), [(24, "inconclusive"), (148, "no effect found")])
def test_two_judges_that_always_agree_prove_as_much_as_there_are_requests(requests: int, verdict: str) -> None:
    tally = KinTally("accuracy", 4.0)
    for n in range(requests):
        tally.add(3.0, 3.0, own=bool(n % 2), group=n)
    found = tally.effect()
    # Each side may differ on a share of 1 − 0.025^(2 / requests), by the whole scale.
    assert found.interval.high == pytest.approx(4 * 2 * (1 - 0.025 ** (2 / requests)))
    assert only(found).verdict == verdict


def test_a_judge_that_always_says_the_same_does_not_show_what_length_does() -> None:
    tally = LengthTally("accuracy", 4.0)
    for n in range(24):
        tally.add(3.0, float(1 + n % 5), 100 + 10 * n, n)
    finding = only(tally.effect())
    assert (finding.verdict, finding.effect.interval.low) == ("inconclusive", None)
    assert "nothing tells what length does" in finding.reason


def test_few_of_one_side_cannot_be_told() -> None:
    tally = KinTally("accuracy", 4.0)
    for n in range(30):
        tally.add(5.0 if n < 9 else 3.0, 3.0, own=n < 9, group=n)
    finding = only(tally.effect())
    assert finding.verdict == "inconclusive"
    assert "9 requests with a response of the judge's family" in finding.reason
    assert finding.adjusted is None


def test_kin_of_pairs_by_hand() -> None:
    tally = KinPairTally()
    for n in range(12):
        tally.add(1.0, -1.0 if n < 9 else 1.0, group=n)
    found = tally.effect(0)
    # Nine of twelve go from a loss to a win, by one half of a pair's points each way.
    assert found.value == Estimate(0.75, 12)
    assert found.p_value == pytest.approx(2 / 2**9)
    assert only(found).verdict == "bias found"


def test_length_by_hand() -> None:
    tally = LengthTally("accuracy", 4.0)
    for n in range(24):
        label = float(1 + n % 3)
        tally.add(label + (n % 2), label, 100 * 4 ** (n % 2), n)
    found = tally.effect()
    # Four times the length, two doublings, bring one point.
    assert found.value.value == pytest.approx(0.5)
    assert only(found).verdict == "bias found"


def test_a_noisy_label_does_not_make_worth_look_like_length() -> None:
    """Longer answers are better here, judge and label say so each with errors of their own: no bias."""
    tally = LengthTally("accuracy", 4.0)
    for n in range(600):
        worth = n % 5
        tally.add(worth + ((n // 5) % 3 - 1), float(worth + ((n // 15) % 3 - 1) * 2), 50 * 2**worth, n)
    found = tally.effect()
    assert found.value.value is not None
    assert found.value.value > 0.3  # the label as control leaves this much, although nothing is there
    assert only(found).verdict != "bias found"


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=30), st.randoms())
def test_effects_do_not_depend_on_the_order_of_items(pairs: list[tuple[int, int]], rng: object) -> None:
    def found(items: list[tuple[int, int]]) -> Effect:
        tally = DifferenceTally("format", "Markdown against plain", "accuracy", 4.0)
        for before, after in items:
            tally.add("i", before, after)
        return replace(tally.effect(0), examples=())

    shuffled = list(pairs)
    rng.shuffle(shuffled)  # type: ignore[attr-defined]
    assert found(pairs) == found(shuffled)
