"""Reports about the synthetic judge straight from what it reads, without calls: for hundreds of seeds."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from agentanvil.aggregate import Reducer
from agentanvil.aggregate.probe.findings import Effect, Finding, settle
from agentanvil.aggregate.probe.kin import KinPairTally, KinTally, LengthTally
from agentanvil.aggregate.probe.paired import DifferenceTally, PreferenceTally
from agentanvil.aggregate.probe.planted import PlantedReading, PlantedTally
from agentanvil.aggregate.probe.steady import PlaceTally, RepeatTally
from agentanvil.aggregate.probe.values import ProbeValues, Values, mean_of
from agentanvil.dataset.perturb import KINDS
from agentanvil.prompt import built_in_rules
from agentanvil.rubric import parse_rubric
from agentanvil.rubric.variant import clauses
from agentanvil.runner.probe.changes import planted_side
from agentanvil.verdict import Winner
from tests.fakes.ablated import study
from tests.fakes.graded import Pair, compare, plan
from tests.fakes.synthetic_judges import DIMENSIONS, RUBRIC, SyntheticJudge, synthetic_pairs, synthetic_rows

OF = parse_rubric(RUBRIC)
PAIRS = parse_rubric(RUBRIC.replace("version: 1\n", "version: 1\nmode: pairwise\n"))
PLANTED = 50
_RANGE = 4.0


def read(judge: SyntheticJudge, arm: str, texts: Sequence[str]) -> dict[str, list[int]]:
    """Return what a judge reads in every text, in columns; each arm has chances of its own."""
    rows = [
        judge.scores(text, RUBRIC, random.Random(f"{judge.seed} {arm} {number}")) for number, text in enumerate(texts)
    ]
    return {dimension: [row[dimension] for row in rows] for dimension in DIMENSIONS}


def repeated(judge: SyntheticJudge, rows: Sequence[Mapping[str, Any]], times: int) -> list[dict[str, list[int]]]:
    """Return row by row what a judge reads in it, so many times."""
    texts = [row["response"] for row in rows]
    arms = [read(judge, f"repeat {number}", texts) for number in range(times)]
    return [{name: [arm[name][n] for arm in arms] for name in DIMENSIONS} for n in range(len(rows))]


def probed(judge: SyntheticJudge, count: int) -> tuple[Finding, ...]:
    """Return the table of a probe in which no change of a response changes anything."""
    rows = synthetic_rows(count, judge.seed)
    texts = [row["response"] for row in rows]
    arms = {arm: read(judge, arm, texts) for arm in ("base", "again", "padded", "plain", "markdown", "placebo", *KINDS)}
    effects: list[Effect] = []
    for dimension in DIMENSIONS:
        base = arms["base"][dimension]
        changed = DifferenceTally("verbosity", "padding", dimension, _RANGE)
        form = DifferenceTally("format", "Markdown against plain", dimension, _RANGE)
        length, kin, steady = LengthTally(dimension, _RANGE), KinTally(dimension, _RANGE), RepeatTally(dimension)
        for n, row in enumerate(rows):
            changed.add(row["id"], base[n], arms["padded"][dimension][n])
            form.add(row["id"], arms["plain"][dimension][n], arms["markdown"][dimension][n])
            length.add(base[n], row["labels"][dimension], len(row["response"]), n)
            kin.add(base[n], row["labels"][dimension], own=row["model"].startswith("gpt"), group=n)
            steady.add(row["id"], (base[n], arms["again"][dimension][n]))
        effects += [
            *(changed.effect(judge.seed), length.effect(), kin.effect()),
            *(steady.effect(judge.seed), form.effect(judge.seed)),
        ]
    return settle([*effects, *_planted(arms)])


def _planted(arms: Mapping[str, Mapping[str, Sequence[int]]]) -> list[Effect]:
    found = []
    for kind in KINDS:
        tally = PlantedTally(kind, 5.0, to_top=False)
        for n in range(PLANTED):
            means = [sum(arms[arm][each][n] for each in DIMENSIONS) / 2 for arm in ("base", "again", "placebo", kind)]
            tally.add(f"item-{n}", PlantedReading(*means))
        found.append(tally.effect())
    return found


def probed_in_pairs(judge: SyntheticJudge, count: int) -> tuple[Finding, ...]:
    """Return the table of a probe of pairs in which neither the place nor any change changes anything."""
    rows = synthetic_pairs(count, judge.seed)
    shape = plan(PAIRS, 2)
    reducer = Reducer(PAIRS, shape)
    values = ProbeValues(reducer.frame)
    place, kin, steady = PlaceTally(), KinPairTally(), RepeatTally("winner")
    longer = PreferenceTally("verbosity", "padding", "winner")
    marked = PreferenceTally("format", "Markdown against plain", "winner")
    tallies = {kind: PlantedTally(kind, 1.0, to_top=True) for kind in KINDS}

    def winners(arm: str, n: int, a: str, b: str) -> Values:
        row = reducer.reduce(compare(shape, n, _in_both_orders(judge, f"{arm} {n}", a, b)))
        if arm == "base" and row.pair is not None:
            place.add(row.id, row.pair)
        return values.of(row)[0]

    for n, row in enumerate(rows):
        a, b = row["response_a"], row["response_b"]
        base = winners("base", n, a, b)
        steady.add(row["id"], base)
        kin.add(base[0], row["labels"]["winner"], n)
        longer.add(row["id"], mean_of(winners("padded", n, a, a), 1))
        marked.add(row["id"], mean_of(winners("markdown", n, a, a), 1))
        if n < PLANTED:
            side = planted_side(row["id"], judge.seed)
            placebo = winners("placebo", n, a, b)[0]
            for kind, tally in tallies.items():
                seen = [value for value in (*base, placebo, winners(kind, n, a, b)[0]) if value is not None]
                tally.add(row["id"], PlantedReading(*(value * side for value in seen)))
    effects = [place.effect(), longer.effect(), kin.effect(judge.seed), steady.effect(judge.seed), marked.effect()]
    return settle([*effects, *(tally.effect() for tally in tallies.values())])


def _in_both_orders(judge: SyntheticJudge, chance: str, a: str, b: str) -> Pair:
    """Return two repeats of a pair, each `ab` and then `ba`, as the judge's calls come back."""
    drawn = random.Random(f"{judge.seed} {chance}")
    calls = []
    for _ in range(2):
        calls.append(judge.preferences(a, b, RUBRIC, drawn))
        turned = judge.preferences(b, a, RUBRIC, drawn)
        calls.append({target: -ahead for target, ahead in turned.items()})
    stated: list[Winner | None] = [
        "a" if call["winner"] > 0 else "b" if call["winner"] < 0 else "tie" for call in calls
    ]
    return Pair({name: [call[name] for call in calls] for name in DIMENSIONS}, stated=stated)


def ablated(judge: SyntheticJudge, count: int, *, labelled: bool) -> dict[str, str]:
    """Return the clauses that an ablation finds to have an effect on a judge that heeds none."""
    rows = synthetic_rows(count, judge.seed)
    texts = [row["response"] for row in rows]
    labels = {dimension: [row["labels"][dimension] for row in rows] for dimension in DIMENSIONS}
    arms = {clause: read(judge, clause.id, texts) for clause in clauses(OF, built_in_rules(OF))}
    found = study(OF, read(judge, "whole", texts), arms, labels if labelled else None, judge.seed)
    return {each.clause.id: each.verdict for each in found.findings if each.verdict != "no_measurable_effect"}
