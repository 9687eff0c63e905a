"""Published packages' own answers: every vector file in vectors/ is run, within the tolerance it states."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentanvil.stats import (
    BinomialTest,
    Estimate,
    Interval,
    Strengths,
    adjacent_agreement,
    binomial_test,
    bradley_terry,
    clopper_pearson_interval,
    cluster_bootstrap_mean,
    cohen_kappa,
    combined_preference,
    exact_agreement,
    krippendorff_alpha,
    population_sd,
    sample_sd,
    wilson_interval,
)

FOLDER = Path(__file__).parent / "vectors"
RECORDS = [
    json.loads(line)
    for file in sorted(FOLDER.glob("*.jsonl"))
    for line in file.read_text(encoding="utf-8").splitlines()
]


def _cluster_bootstrap(clusters: list[list[float]], p: dict[str, Any]) -> Interval:
    return cluster_bootstrap_mean(clusters, seed=p["seed"], resamples=p["B"], level=p["level"])


def _strengths(i: dict[str, Any], p: dict[str, Any]) -> Strengths:
    points = [[float(n) for n in row] for row in i["wins"]]
    if p["ties"] == "half":
        for one, row in enumerate(i["tie_counts"]):
            for other, ties in enumerate(row):
                points[one][other] += ties / 2
                points[other][one] += ties / 2
    return bradley_terry(points)


def _preference(i: dict[str, Any]) -> Estimate:
    if "order_AB" not in i:
        return combined_preference([i["pA_first"], i["pA_second"]])
    # In the second order the item stands in slot B.
    first, second = i["order_AB"], i["order_BA"]
    return combined_preference([_share(first["A"], first["B"]), _share(second["B"], second["A"])])


def _share(one: float, other: float) -> float:
    return math.exp(one) / (math.exp(one) + math.exp(other))


Result = Estimate | Interval | BinomialTest | Strengths
CALLS: dict[str, Callable[[dict[str, Any], dict[str, Any]], Result]] = {
    "adjacent_agreement": lambda i, p: adjacent_agreement(i["a"], i["b"], p["step"]),
    "binomial_test_first_position": lambda i, p: binomial_test(i["first"], i["first"] + i["second"], p["p0"]),
    "bradley_terry": _strengths,
    "clopper_pearson_interval": lambda i, p: clopper_pearson_interval(i["successes"], i["n"], 1 - p["alpha"]),
    "bootstrap_ci_mean": lambda i, p: _cluster_bootstrap([[x] for x in i["x"]], p),
    "cluster_bootstrap_ci_mean": lambda i, p: _cluster_bootstrap(i["clusters"], p),
    "cohen_kappa": lambda i, p: cohen_kappa(i["a"], i["b"], p["labels"], p["weights"]),
    "exact_agreement": lambda i, p: exact_agreement(i["a"], i["b"]),
    "krippendorff_alpha": lambda i, p: krippendorff_alpha(i["ratings"], p["level"]),
    "order_combined_preference": lambda i, _: _preference(i),
    "sd": lambda i, p: (sample_sd if p["kind"] == "sample" else population_sd)(i["x"]),
    "wilson_interval": lambda i, p: wilson_interval(i["successes"], i["n"], 1 - p["alpha"]),
}


def _numbers(result: Result) -> list[float] | None:
    if isinstance(result, Estimate):
        return None if result.value is None else [result.value]
    if isinstance(result, BinomialTest):
        return None if result.p_value is None else [result.successes / result.n, result.p_value]
    if isinstance(result, Strengths):
        return None if result.values is None else list(result.values)
    if result.low is None or result.high is None:
        return None
    return [result.low, result.high]


@pytest.mark.parametrize("record", RECORDS, ids=[r["id"] for r in RECORDS])
def test_reproduces_the_reference(record: dict[str, Any]) -> None:
    result = CALLS[record["statistic"]](record["input"], record["params"])
    got, expected, tolerance = _numbers(result), record["expected"], record["tolerance"]
    if expected is None:
        assert got is None
        assert result.reason
        return
    wanted = expected if isinstance(expected, list) else [expected]
    assert result.reason is None
    assert got is not None
    assert len(got) == len(wanted)
    for value, target in zip(got, wanted, strict=True):
        assert abs(value - target) <= tolerance["abs"] + tolerance["rel"] * abs(target)


def test_every_statistic_with_vectors_is_called() -> None:
    assert {file.stem for file in FOLDER.glob("*.jsonl")} == set(CALLS)
