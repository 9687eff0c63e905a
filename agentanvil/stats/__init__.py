"""Pure numeric functions: agreement, intervals, spread. What is undefined is a value of None with a reason."""

from agentanvil.stats.agreement import (
    Weights,
    adjacent_agreement,
    agreement_table,
    cohen_kappa,
    exact_agreement,
    kappa_interval,
    kappa_of_tables,
)
from agentanvil.stats.estimate import Estimate, Interval
from agentanvil.stats.interval import cluster_bootstrap_mean, wilson_interval
from agentanvil.stats.spread import (
    mean,
    modal_agreement,
    pooled_sd,
    population_sd,
    sample_sd,
    unanimous_share,
)

__all__ = [
    "Estimate",
    "Interval",
    "Weights",
    "adjacent_agreement",
    "agreement_table",
    "cluster_bootstrap_mean",
    "cohen_kappa",
    "exact_agreement",
    "kappa_interval",
    "kappa_of_tables",
    "mean",
    "modal_agreement",
    "pooled_sd",
    "population_sd",
    "sample_sd",
    "unanimous_share",
    "wilson_interval",
]
