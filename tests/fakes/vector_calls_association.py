"""How the statistics of association are called with a vector's input."""

from __future__ import annotations

from collections.abc import Mapping

from agentanvil.stats import kendall_tau_b, mean_absolute_error, pearson, signed_bias, spearman
from tests.fakes.vector_answers import Call, of_estimate

CALLS: Mapping[str, Call] = {
    "kendall_tau_b": lambda i, _: of_estimate(kendall_tau_b(i["x"], i["y"])),
    "mae": lambda i, _: of_estimate(mean_absolute_error(i["judge"], i["human"])),
    "pearson": lambda i, _: of_estimate(pearson(i["x"], i["y"])),
    "signed_bias": lambda i, _: of_estimate(signed_bias(i["judge"], i["human"])),
    "spearman": lambda i, _: of_estimate(spearman(i["x"], i["y"])),
}
