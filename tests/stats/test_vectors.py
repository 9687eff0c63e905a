"""Published packages' own answers: every vector file in vectors/ is run, within the tolerance it states."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agentanvil.stats import (
    Estimate,
    Interval,
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
from tests.fakes import vector_calls_association as association
from tests.fakes import vector_calls_correction as correction
from tests.fakes import vector_calls_inference as inference
from tests.fakes import vector_calls_reliability as reliability
from tests.fakes.vector_answers import Answer, Call, of_estimate, of_interval

FOLDER = Path(__file__).parent / "vectors"
RECORDS = [
    json.loads(line)
    for file in sorted(FOLDER.glob("*.jsonl"))
    for line in file.read_text(encoding="utf-8").splitlines()
]


def _cluster_bootstrap(clusters: list[list[float]], p: dict[str, Any]) -> Interval:
    return cluster_bootstrap_mean(clusters, seed=p["seed"], resamples=p["B"], level=p["level"])


def _strengths(i: dict[str, Any], p: dict[str, Any]) -> Answer:
    points = [[float(n) for n in row] for row in i["wins"]]
    if p["ties"] == "half":
        for one, row in enumerate(i["tie_counts"]):
            for other, ties in enumerate(row):
                points[one][other] += ties / 2
                points[other][one] += ties / 2
    found = bradley_terry(points)
    return Answer(None if found.values is None else list(found.values), found.reason)


def _preference(i: dict[str, Any]) -> Estimate:
    if "order_AB" not in i:
        return combined_preference([i["pA_first"], i["pA_second"]])
    # In the second order the item stands in slot B.
    first, second = i["order_AB"], i["order_BA"]
    return combined_preference([_share(first["A"], first["B"]), _share(second["B"], second["A"])])


def _share(one: float, other: float) -> float:
    return math.exp(one) / (math.exp(one) + math.exp(other))


def _first_position(i: dict[str, Any], p: dict[str, Any]) -> Answer:
    found = binomial_test(i["first"], i["first"] + i["second"], p["p0"])
    share = None if found.p_value is None else found.successes / found.n
    return Answer(None if share is None else [share, found.p_value], found.reason)


OWN: Mapping[str, Call] = {
    "adjacent_agreement": lambda i, p: of_estimate(adjacent_agreement(i["a"], i["b"], p["step"])),
    "binomial_test_first_position": _first_position,
    "bradley_terry": _strengths,
    "clopper_pearson_interval": lambda i, p: of_interval(
        clopper_pearson_interval(i["successes"], i["n"], 1 - p["alpha"])
    ),
    "cluster_bootstrap_ci_mean": lambda i, p: of_interval(_cluster_bootstrap(i["clusters"], p)),
    "cohen_kappa": lambda i, p: of_estimate(cohen_kappa(i["a"], i["b"], p["labels"], p["weights"])),
    "exact_agreement": lambda i, p: of_estimate(exact_agreement(i["a"], i["b"])),
    "krippendorff_alpha": lambda i, p: of_estimate(krippendorff_alpha(i["ratings"], p["level"])),
    "order_combined_preference": lambda i, _: of_estimate(_preference(i)),
    "sd": lambda i, p: of_estimate((sample_sd if p["kind"] == "sample" else population_sd)(i["x"])),
    "wilson_interval": lambda i, p: of_interval(wilson_interval(i["successes"], i["n"], 1 - p["alpha"])),
}


CALLS: Mapping[str, Call] = OWN | association.CALLS | reliability.CALLS | correction.CALLS | inference.CALLS


@pytest.mark.parametrize("record", RECORDS, ids=[r["id"] for r in RECORDS])
def test_reproduces_the_reference(record: dict[str, Any]) -> None:
    answer = CALLS[record["statistic"]](record["input"], record["params"])
    if record["expected"] is None:
        assert answer.value is None
        assert answer.reason
        return
    assert answer.reason is None
    _compare(answer.value, record["expected"], record["tolerance"], answer.reasons)


def _compare(got: Any, wanted: Any, tolerance: dict[str, float], reasons: Mapping[str, str | None]) -> None:
    if isinstance(wanted, dict):
        for name, value in wanted.items():
            if value is None:
                assert got[name] is None, name
                assert reasons[name], name
            else:
                _compare(got[name], value, tolerance, {})
    elif isinstance(wanted, list):
        assert len(got) == len(wanted)
        for value, target in zip(got, wanted, strict=True):
            _compare(value, target, tolerance, {})
    elif isinstance(wanted, bool | str) or wanted is None:
        assert got == wanted
    else:
        assert abs(got - wanted) <= tolerance["abs"] + tolerance["rel"] * abs(wanted)


def test_every_statistic_with_vectors_is_called() -> None:
    assert {file.stem for file in FOLDER.glob("*.jsonl")} == set(CALLS)
