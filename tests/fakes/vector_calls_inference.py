"""How the statistics of inference are called with a vector's input."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agentanvil.stats import (
    Interval,
    SignificanceTest,
    bca_bootstrap_mean,
    benjamini_hochberg,
    cluster_bootstrap_mean,
    clustered_se_mean,
    design_effect,
    design_effect_ratio,
    discordant,
    holm,
    least_detectable_difference_paired,
    mcnemar_exact,
    mcnemar_midp,
    paired_differences,
    paired_permutation_test,
    required_n_paired,
    wilcoxon_signed_rank,
)
from tests.fakes.vector_answers import Answer, Call, of_estimate, of_interval


def _bootstrap(i: dict[str, Any], p: dict[str, Any]) -> Interval:
    interval = bca_bootstrap_mean if p["method"] == "BCa" else cluster_bootstrap_mean
    return interval([[x] for x in i["x"]], seed=p["seed"], resamples=p["B"], level=p["level"])


def _mcnemar(test: Callable[[int, int], SignificanceTest]) -> Call:
    def call(i: dict[str, Any], _: dict[str, Any]) -> Answer:
        b, c = discordant(i["x"], i["y"]) if "x" in i else (i["b"], i["c"])
        found = test(b, c)
        return Answer(found.p_value, found.reason)

    return call


def _permutation(i: dict[str, Any], p: dict[str, Any]) -> Answer:
    found = paired_permutation_test(paired_differences(i["x"], i["y"]), alternative=p["alternative"], seed=1)
    return Answer(found.p_value, found.reason)


def _wilcoxon(i: dict[str, Any], p: dict[str, Any]) -> Answer:
    found = wilcoxon_signed_rank(
        i["d"],
        zero_method=p["zero_method"],
        asymptotic=p["method"] == "asymptotic",
        correction=p.get("correction", False),
        alternative=p["alternative"],
        seed=1,
    )
    value = None if found.p_value is None else {"statistic": found.statistic, "p_value": found.p_value}
    return Answer(value, found.reason)


def _required(i: dict[str, Any], p: dict[str, Any]) -> Answer:
    found = required_n_paired(i["diff"], i["sd_diff"], alpha=p["alpha"], power=p["power"])
    value = None if found.n is None else {"n_real": found.n_real, "n": found.n}
    return Answer(value, found.reason)


CALLS: Mapping[str, Call] = {
    "benjamini_hochberg": lambda i, _: Answer(benjamini_hochberg(i["p"])),
    "bootstrap_ci_mean": lambda i, p: of_interval(_bootstrap(i, p)),
    "clustered_se_mean": lambda i, p: of_estimate(clustered_se_mean(i["clusters"], small_sample=p["correction"])),
    "design_effect": lambda i, _: of_estimate(design_effect(i["icc"], i["cluster_size"])),
    "design_effect_ratio": lambda i, _: of_estimate(design_effect_ratio(i["clusters"])),
    "holm": lambda i, _: Answer(holm(i["p"])),
    "least_detectable_difference_paired": lambda i, p: of_estimate(
        least_detectable_difference_paired(i["n"], i["sd_diff"], alpha=p["alpha"], power=p["power"], kind=p["kind"])
    ),
    "mcnemar_exact": _mcnemar(mcnemar_exact),
    "mcnemar_midp": _mcnemar(mcnemar_midp),
    "paired_permutation_test": _permutation,
    "required_n_paired": _required,
    "wilcoxon_signed_rank": _wilcoxon,
}
