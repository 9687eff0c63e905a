"""Published packages' own answers: every vector file in vectors/ is run, within the tolerance it states."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentanvil.stats import (
    Estimate,
    Interval,
    adjacent_agreement,
    cluster_bootstrap_mean,
    cohen_kappa,
    exact_agreement,
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


CALLS: dict[str, Callable[[dict[str, Any], dict[str, Any]], Estimate | Interval]] = {
    "adjacent_agreement": lambda i, p: adjacent_agreement(i["a"], i["b"], p["step"]),
    "bootstrap_ci_mean": lambda i, p: _cluster_bootstrap([[x] for x in i["x"]], p),
    "cluster_bootstrap_ci_mean": lambda i, p: _cluster_bootstrap(i["clusters"], p),
    "cohen_kappa": lambda i, p: cohen_kappa(i["a"], i["b"], p["labels"], p["weights"]),
    "exact_agreement": lambda i, p: exact_agreement(i["a"], i["b"]),
    "sd": lambda i, p: (sample_sd if p["kind"] == "sample" else population_sd)(i["x"]),
    "wilson_interval": lambda i, p: wilson_interval(i["successes"], i["n"], 1 - p["alpha"]),
}


def _numbers(result: Estimate | Interval) -> list[float] | None:
    if isinstance(result, Estimate):
        return None if result.value is None else [result.value]
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
