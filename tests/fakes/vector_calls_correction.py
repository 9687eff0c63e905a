"""How the statistics of correction are called with a vector's input.

Left out is `ppi-o4-pt`, a judge whose scores are all alike and a lambda to be tuned: we take lambda as 0, the mean of
the labels, which the record accepts besides the null that it expects.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentanvil.stats import corrected_pass_rate, mean_interval, ppi_mean, ppi_mean_interval, rogan_gladen
from tests.fakes.vector_answers import Answer, Call, of_estimate, of_interval


def _ppi_interval(i: dict[str, Any], p: dict[str, Any]) -> Answer:
    found = ppi_mean_interval(
        i["human"], i["judge"], i["judge_unlabelled"], lam=p["lam"], level=1 - p["alpha"], student=False
    )
    return of_interval(found)


CALLS: Mapping[str, Call] = {
    "classical_mean_ci": lambda i, p: of_interval(
        mean_interval(i["y"], level=1 - p["alpha"], student=p["kind"] == "t_ddof1")
    ),
    "corrected_pass_rate": lambda i, _: of_estimate(
        corrected_pass_rate(i["labels"], i["preds"], i["unlabeled"]).population.estimate
    ),
    "ppi_mean": lambda i, p: of_estimate(ppi_mean(i["human"], i["judge"], i["judge_unlabelled"], lam=p["lam"])),
    "ppi_mean_ci": _ppi_interval,
    "rogan_gladen": lambda i, p: of_estimate(
        rogan_gladen(i["observed_rate"], i["sensitivity"], i["specificity"], clip=p["clip"])
    ),
}
