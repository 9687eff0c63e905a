"""What leaving a clause out does: figures by hand, the rule of verdicts, and how often chance passes for an effect."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentanvil.aggregate.ablation.effects import Chances, clause_effect
from agentanvil.aggregate.ablation.readings import ScoreCodes
from agentanvil.aggregate.ablation.tally import Change, ClauseEffect, ClauseFinding, DimensionEffect
from agentanvil.rubric.variant import Clause
from agentanvil.verdict import Exchange
from tests.fakes.ablated import EXCLUDES, Columns, arm, leaky, noisy, study, truth
from tests.fakes.graded import ERROR, NA, rubric

TWO = rubric("accuracy", "tone")
INSIDE = Clause("accuracy.in.1", "in_scope", "figures", (), "accuracy")
RULE = Clause("rules.1", "rule", "Be lenient.", ())
ONES = [3] * 4


def effect(whole: Columns, without: Columns, labels: Columns | None = None, **how: Any) -> ClauseEffect:
    codes, of = ScoreCodes(), how.pop("of", TWO)
    first, second = arm(of, codes, whole, labels, **how), arm(of, codes, without, labels, **how)
    return clause_effect(first, second, Chances(1, 9_999), EXCLUDES)


def on(found: ClauseEffect, name: str) -> DimensionEffect:
    return next(dimension for dimension in found.dimensions if dimension.id == name)


def test_the_change_of_a_mean_by_hand() -> None:
    found = on(effect({"accuracy": [5, 4, 3, 3], "tone": ONES}, {"accuracy": [4, 4, 2, 3], "tone": ONES}), "accuracy")
    mean = found.mean
    assert (mean.whole.value, mean.without.value, mean.change.value, mean.change.n) == (3.75, 3.25, -0.5, 4)
    assert (found.flips.n, found.flips.up, found.flips.down, found.flips.share.value) == (4, 0, 2, 0.5)
    # Changes -1, 0, -1, 0 about their mean -1/2: 4 * 1/4 / 3.
    assert found.sd.value == pytest.approx(math.sqrt(1 / 3))
    # Two changes of size 1: half of the sign flips have a total of size 2.
    assert mean.test is not None
    assert mean.test.p_value == 0.5
    assert mean.interval.low is not None
    assert found.about


def test_items_that_lack_a_score_in_one_arm_are_counted_and_left_out() -> None:
    whole: Columns = {"accuracy": [5, 4, ERROR, NA], "tone": ONES}
    found = on(effect(whole, {**whole, "accuracy": [NA, 4, 3, NA]}), "accuracy")
    assert (found.unpaired, found.mean.change.n, found.flips.n) == (2, 1, 1)


def test_without_any_score_there_is_a_reason_and_no_number() -> None:
    nothing: Columns = {"accuracy": [ERROR] * 4, "tone": ONES}
    found = on(effect(nothing, nothing), "accuracy")
    assert (found.mean.change.value, found.mean.change.reason) == (None, "no item has a score in both arms")
    assert (found.mean.interval.low, found.flips.share.value, found.sd.value) == (None, None, None)


def test_where_no_score_changes_there_is_no_interval() -> None:
    same = {"accuracy": [5, 4, 3, 3], "tone": ONES}
    found = on(effect(same, same), "accuracy")
    assert found.mean.change.value == 0
    assert found.mean.interval.low is None
    assert found.flips.interval.high == pytest.approx(1 - 0.025 ** (1 / 4))  # Clopper and Pearson for 0 of 4


def test_agreement_is_taken_over_the_items_that_have_both_and_a_label() -> None:
    labels: Columns = {"accuracy": [5, 1, 3, None], "tone": [None] * 4}
    found = effect({"accuracy": [5, 1, 3, 4], "tone": ONES}, {"accuracy": [1, 5, 3, 1], "tone": ONES}, labels)
    accuracy = on(found, "accuracy")
    assert accuracy.kappa is not None
    assert accuracy.distance is not None
    # Without: labels 5, 1, 3 against 1, 5, 3; observed 16 + 16 + 0 = 32, expected 2 * 35 - 2 * 9 * 9 / 3 = 16.
    assert (accuracy.kappa.whole.value, accuracy.kappa.without.value) == (1.0, -1.0)
    assert accuracy.distance.whole.value == 0
    assert accuracy.distance.without.value == pytest.approx(8 / 3)
    assert (accuracy.kappa.change.n, accuracy.distance.change.n) == (3, 3)
    assert accuracy.distance.test is None  # kappa is the one that is tested
    assert on(found, "tone").kappa is None


def test_where_kappa_is_undefined_the_distance_is_tested() -> None:
    labels: Columns = {"accuracy": [3] * 12, "tone": [None] * 12}
    threes = {"accuracy": [3] * 12, "tone": [3] * 12}
    accuracy = on(effect(threes, {**threes, "accuracy": [4] * 12}, labels), "accuracy")
    assert accuracy.kappa is not None
    assert accuracy.distance is not None
    assert accuracy.kappa.test is None
    assert accuracy.distance.test is not None
    assert accuracy.distance.test.p_value == pytest.approx(2 / 2**12)


def test_several_repeats_and_raters_of_an_item_are_one_cluster() -> None:
    labels: Columns = {"accuracy": [(5, 4), (1, 1)], "tone": [None] * 2}
    whole: Columns = {"accuracy": [[5, 4], [1, 1]], "tone": [[3, 3]] * 2}
    found = on(effect(whole, {**whole, "accuracy": [[5, 2], [1, 1]]}, labels, repeats=2), "accuracy")
    assert (found.mean.whole.value, found.mean.change.value, found.mean.change.n) == (2.75, -0.5, 2)
    assert found.distance is not None
    # Item 1 with the clause: |5-5|, |5-4|, |4-5|, |4-4|; without: 0, 1, 3, 2. Item 2: nought.
    assert (found.distance.whole.value, found.distance.without.value) == (0.25, 0.75)


def test_the_pair_that_an_exclusion_parts_comes_first_and_is_the_one_tested() -> None:
    of = rubric("style", "accuracy", "tone")
    columns: Columns = {"style": [1, 2, 3, 4], "accuracy": [4, 1, 2, 5], "tone": [2, 2, 4, 4]}
    found = effect(columns, {**columns, "accuracy": [2, 2, 4, 4]}, of=of)
    assert [(pair.dimensions, pair.separates) for pair in found.pairs] == [
        (("accuracy", "tone"), True),
        (("style", "accuracy"), False),
    ]
    assert found.pairs[0].correlation.without.value == 1
    assert found.pairs[0].correlation.test is not None
    assert found.pairs[1].correlation.test is None


def test_verdicts_that_change_are_counted_where_there_is_a_gate() -> None:
    of = rubric("accuracy", "tone", gate={"accuracy": 4})
    found = effect({"accuracy": [5, 4, 3, 3], "tone": ONES}, {"accuracy": [3, 4, 5, 3], "tone": ONES}, of=of)
    assert found.decided is not None
    assert (found.decided.up, found.decided.down, found.decided.n) == (1, 1, 4)
    assert effect({"accuracy": ONES, "tone": ONES}, {"accuracy": ONES, "tone": ONES}).decided is None


def test_in_pairs_the_winner_is_what_is_decided_and_compared_with_labels() -> None:
    of = rubric("accuracy", "tone", mode="pairwise")
    whole: Columns = {"accuracy": [3, -2, 1], "tone": [0] * 3}
    labels = {"winner": [1, -1, -1]}
    found = effect(whole, {**whole, "accuracy": [3, -2, -1]}, labels, of=of)
    assert found.decided is not None
    assert (found.decided.up, found.decided.down, found.decided.n) == (0, 1, 3)
    overall = on(found, "overall")
    assert overall.kappa is not None
    assert overall.kappa.without.value == 1
    assert overall.kappa.test is not None  # no dimension has labels of its own


def test_tokens_and_cost_are_those_of_an_item() -> None:
    def exchange(tokens: int | None, cost: float | None = 0.5) -> Exchange:
        return Exchange(input_tokens=tokens, output_tokens=7, cost=cost)

    codes, columns = ScoreCodes(), {"accuracy": ONES[:2], "tone": ONES[:2]}
    first = arm(TWO, codes, columns, exchanges=[[exchange(100), exchange(50)], [exchange(120)]])
    second = arm(TWO, codes, columns, exchanges=[[exchange(90)], [exchange(None, None)]])
    found = clause_effect(first, second, Chances(1, 9_999), EXCLUDES)
    assert (found.input_tokens.whole.value, found.input_tokens.without.value) == (150, 90)
    assert (found.input_tokens.change.value, found.input_tokens.change.n) == (-60, 1)
    assert (found.output_tokens.change.value, found.output_tokens.change.n) == (-3.5, 2)
    assert (found.cost.change.value, found.cost.change.n) == (-0.5, 1)
    assert effect(columns, columns).cost.change.reason == "no item states it in both arms"


# The rule of verdicts.


def judged(whole: Columns, without: Columns, labels: Columns | None = None, clause: Clause = EXCLUDES) -> ClauseFinding:
    (finding,) = study(TWO, whole, {clause: without}, labels).findings
    return finding


ITEMS = 40
RIGHT = {name: [truth(n, 1)[name] for n in range(ITEMS)] for name in ("accuracy", "tone")}
LIFTED = {**RIGHT, "accuracy": [min(5, score + 1) for score in RIGHT["accuracy"]]}


def test_a_clause_without_which_scores_leave_the_labels_earns_its_tokens() -> None:
    found = judged(RIGHT, LIFTED, RIGHT)
    assert found.verdict == "earns_its_tokens"
    assert found.because[0].startswith("without it `accuracy` agrees less with the labels: kappa 1.00 to 0.")


def test_a_clause_without_which_scores_are_nearer_to_the_labels_is_harmful() -> None:
    found = judged(LIFTED, RIGHT, RIGHT)
    assert found.verdict == "harmful"
    assert found.because[0].startswith("without it `accuracy` agrees more with the labels")


def test_harm_to_one_dimension_outweighs_a_gain_on_another() -> None:
    worse_tone = {**RIGHT, "tone": [min(5, score + 1) for score in RIGHT["tone"]]}
    found = judged(LIFTED, worse_tone, RIGHT, RULE)
    assert found.verdict == "harmful"
    assert "`tone` agrees less" in found.because[1]


def test_without_labels_a_changed_mean_of_what_it_is_about_earns_and_says_what_is_not_known() -> None:
    found = judged(LIFTED, RIGHT)
    assert found.verdict == "earns_its_tokens"
    assert found.because[0].startswith("without it the mean of `accuracy` goes from")
    assert found.because[-1] == "labels do not tell whether for better or worse"


def test_a_correlation_that_a_clause_keeps_down_earns_even_if_no_mean_changes() -> None:
    # Half of the leaks up, half down: the mean of accuracy stays, its correlation with tone does not.
    apart = {"accuracy": [1, 5, 1, 5] * 10, "tone": [1, 1, 5, 5] * 10}
    leaking = {**apart, "accuracy": [1, 1, 5, 5] * 10}
    assert judged(apart, leaking).verdict == "earns_its_tokens"
    drawn = judged(leaking, apart)
    assert drawn.verdict == "harmful"
    assert drawn.because == ("without it `accuracy` and `tone` correlate less: r 1.00 to 0.00 (adjusted p 0.0003)",)
    # An entry of the scope parts no pair, and so has no such test.
    assert judged(apart, leaking, clause=INSIDE).verdict == "no_measurable_effect"


def test_no_effect_says_how_large_one_would_have_been_found() -> None:
    found = judged(RIGHT, {**RIGHT, "accuracy": [min(5, RIGHT["accuracy"][0] + 1), *RIGHT["accuracy"][1:]]})
    assert found.verdict == "no_measurable_effect"
    least = found.detectable["accuracy"].value
    assert least is not None
    assert found.because == (f"a change of {least:.2f} or more in the mean of `accuracy` would probably have shown",)


@pytest.mark.parametrize(("kept", "verdict"), [(0, "inconclusive"), (5, "inconclusive"), (6, "no_measurable_effect")])
def test_of_too_few_items_nothing_is_told(kept: int, verdict: str) -> None:
    # The judge says nothing on the others once the clause is gone.
    failing = {"accuracy": [*RIGHT["accuracy"][:kept], *[None] * (ITEMS - kept)], "tone": RIGHT["tone"]}
    found = judged(RIGHT, failing, clause=INSIDE)
    assert found.verdict == verdict
    assert found.because[-1] == f"{ITEMS - kept} of `accuracy` have a score in one arm alone, and count nowhere"
    if kept == 5:
        assert found.because[0] == "5 items with a score in both arms could show nothing; 6 is the least"


def test_no_change_at_all_says_how_rare_changes_may_be() -> None:
    found = judged(RIGHT, RIGHT, clause=RULE)
    assert found.because == (
        "no score of `accuracy`, `tone` changed on 40 items, so that at most 9% of such items change",
    )
    assert found.detectable["accuracy"].value is None


def test_what_a_clause_moves_that_it_is_not_about_is_told_and_decides_nothing() -> None:
    found = judged(RIGHT, {**RIGHT, "tone": LIFTED["accuracy"]}, clause=INSIDE)
    moved = judged(RIGHT, {**RIGHT, "tone": [min(5, score + 1) for score in RIGHT["tone"]]}, clause=INSIDE)
    assert found.verdict == moved.verdict == "no_measurable_effect"
    assert moved.because[-1].startswith("it moves `tone`, which it is not about: the mean of `tone` goes from")


def test_all_tests_of_all_clauses_are_one_family() -> None:
    one = study(TWO, RIGHT, {EXCLUDES: LIFTED}, RIGHT)
    three = study(TWO, RIGHT, {EXCLUDES: LIFTED, INSIDE: RIGHT, RULE: RIGHT}, RIGHT)
    # Two means and two kappas for each clause, and the correlation of the pair that the exclusion parts.
    assert (one.tests, three.tests) == (5, 13)
    p_values = [on(each.findings[0].effect, "accuracy").mean.p_adjusted for each in (one, three)]
    assert p_values[0] is not None
    assert p_values[1] == pytest.approx(p_values[0] / 5 * 13)


def test_changes_that_are_not_tested_have_no_p_value() -> None:
    (finding,) = study(TWO, RIGHT, {EXCLUDES: LIFTED}).findings
    overall = on(finding.effect, "overall").mean
    assert (overall.test, overall.p_adjusted, overall.significant) == (None, None, False)


@settings(max_examples=20)
@given(st.lists(st.tuples(*[st.integers(1, 5)] * 5), min_size=2, max_size=12), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(drawn: list[tuple[int, ...]], shuffler: random.Random) -> None:
    def columns(rows: list[tuple[int, ...]]) -> tuple[Columns, Columns, Columns]:
        a, b, c, d, e = ([row[place] for row in rows] for place in range(5))
        return {"accuracy": a, "tone": b}, {"accuracy": c, "tone": d}, {"accuracy": e, "tone": a}

    found = effect(*columns(drawn))
    shuffler.shuffle(drawn)
    assert effect(*columns(drawn)) == found


@settings(max_examples=20)
@given(st.lists(st.tuples(st.integers(-4, 4), st.integers(-4, 4)), min_size=2, max_size=12))
def test_in_pairs_exchanging_the_sides_turns_every_change_round(drawn: list[tuple[int, int]]) -> None:
    of = rubric("accuracy", mode="pairwise")

    def changed(sign: int) -> Change:
        whole, without = ({"accuracy": [sign * row[place] for row in drawn]} for place in (0, 1))
        return on(effect(whole, without, of=of), "accuracy").mean

    ours, theirs = changed(1), changed(-1)
    assert ours.change.value == -(theirs.change.value or 0)
    assert ours.test is not None
    assert theirs.test is not None
    assert ours.test.p_value == theirs.test.p_value
    if ours.interval.low is not None:
        assert theirs.interval.high == -ours.interval.low + 0.0


# Planted faults, and none at all.

OTHERS = [Clause(f"accuracy.in.{n}", "in_scope", f"matter {n}", (), "accuracy") for n in range(1, 4)]
OTHER_RULES = [Clause(f"rules.{n}", "rule", f"rule {n}", ()) for n in range(2, 4)]


def asked(judge: Any, told: str, seed: int, arm_name: str) -> Columns:
    scores = [judge(told, n, random.Random(f"{seed} {arm_name} {n}")) for n in range(ITEMS)]
    return {name: [score[name] for score in scores] for name in ("accuracy", "tone")}


def simulated(judge: Any, seed: int, *, labelled: bool) -> dict[str, str]:
    told = {EXCLUDES: EXCLUDES.text, RULE: RULE.text}
    everything = " ".join(told.values())
    whole = asked(judge, everything, seed, "whole")
    arms = {
        clause: asked(judge, everything.replace(told.get(clause, "-"), ""), seed, clause.id)
        for clause in (EXCLUDES, RULE, *OTHERS, *OTHER_RULES)
    }
    labels = {name: [truth(n, seed)[name] for n in range(ITEMS)] for name in ("accuracy", "tone")}
    found = study(TWO, whole, arms, labels if labelled else None, seed)
    return {
        finding.clause.id: finding.verdict for finding in found.findings if finding.verdict != "no_measurable_effect"
    }


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 20))])
def test_the_planted_faults_and_no_other_are_found(seed: int) -> None:
    assert simulated(leaky(seed), seed, labelled=True) == {"accuracy.out.1": "earns_its_tokens", "rules.1": "harmful"}
    # Nobody but people can tell that the rule does harm.
    assert simulated(leaky(seed), seed, labelled=False).keys() == {"accuracy.out.1", "rules.1"}


@pytest.mark.slow
@pytest.mark.parametrize("labelled", [True, False])
def test_a_clean_noisy_judge_raises_no_more_alarms_than_the_level_allows(labelled: bool) -> None:
    studies = 200
    alarms = sum(bool(simulated(noisy(seed), seed, labelled=labelled)) for seed in range(studies))
    assert alarms <= studies * 0.05 + 3 * math.sqrt(studies * 0.05 * 0.95)
