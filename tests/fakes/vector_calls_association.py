"""How the statistics of association, of several raters, of probabilities and of trials meet a vector's input."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from agentanvil.client import TokenLogprob
from agentanvil.judge.score_tokens import number_spelling, read_value
from agentanvil.stats import (
    brier_score,
    category_counts,
    expected_calibration_error,
    fleiss_kappa,
    gwet_ac,
    kendall_tau_b,
    mean_absolute_error,
    mean_pass_at_k,
    mean_pass_hat_k,
    pass_at_k,
    pass_hat_k,
    pearson,
    signed_bias,
    spearman,
)
from tests.fakes.vector_answers import Answer, Call, of_estimate


def _counts(i: dict[str, Any], p: dict[str, Any]) -> list[list[int]]:
    return i["counts"] if "counts" in i else category_counts(i["ratings"], p["categories"])


def _tasks(i: dict[str, Any]) -> list[tuple[int, int]]:
    return [(attempts, successes) for attempts, successes in i["items"]]


def _token_scores(i: dict[str, Any], p: dict[str, Any]) -> Answer:
    """Ask for the reading of a reply that is the first score listed, with the whole list as its alternatives."""
    scale = tuple(p["scale"])
    listed = [(text, float(logprob)) for text, logprob in i["tokens"]]
    said, logprob = next((token for token in listed if token[0].strip() in map(str, scale)), listed[0])
    own = TokenLogprob(0, said, logprob, tuple(listed))
    verdict = int(said) if said.strip().isdigit() else scale[0]
    found = read_value([own], 0, number_spelling(scale), verdict)
    if found is None:
        return Answer(None, "no probability on a declared score")
    nats = found.entropy * math.log(len(scale))
    return Answer(
        {
            "score_mass": found.mass,
            "expected_score": found.expected,
            "entropy_nats": nats,
            "entropy_bits": nats / math.log(2),
        }
    )


CALLS: Mapping[str, Call] = {
    "brier": lambda i, _: of_estimate(brier_score(i["p"], i["y"])),
    "ece": lambda i, p: of_estimate(expected_calibration_error(i["p"], i["y"], p["bins"])),
    "fleiss_kappa": lambda i, p: of_estimate(fleiss_kappa(_counts(i, p))),
    "gwet_ac": lambda i, p: of_estimate(gwet_ac(_counts(i, p), p["weights"])),
    "kendall_tau_b": lambda i, _: of_estimate(kendall_tau_b(i["x"], i["y"])),
    "mae": lambda i, _: of_estimate(mean_absolute_error(i["judge"], i["human"])),
    "pass_at_k": lambda i, p: of_estimate(pass_at_k(i["n"], i["c"], p["k"])),
    "pass_at_k_mean": lambda i, p: of_estimate(mean_pass_at_k(_tasks(i), p["k"])),
    "pass_hat_k": lambda i, p: of_estimate(pass_hat_k(i["n"], i["c"], p["k"])),
    "pass_hat_k_mean": lambda i, p: of_estimate(mean_pass_hat_k(_tasks(i), p["k"])),
    "pearson": lambda i, _: of_estimate(pearson(i["x"], i["y"])),
    "signed_bias": lambda i, _: of_estimate(signed_bias(i["judge"], i["human"])),
    "spearman": lambda i, _: of_estimate(spearman(i["x"], i["y"])),
    "token_score_distribution": _token_scores,
}
