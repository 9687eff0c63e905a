"""Pure numeric functions: agreement, comparisons, intervals, spread.

What is undefined is a value of None with a reason.
"""

from agentanvil.stats.agreement import (
    Weights,
    adjacent_agreement,
    agreement_table,
    cohen_kappa,
    exact_agreement,
    kappa_interval,
    kappa_of_tables,
)
from agentanvil.stats.binomial import BinomialTest, binomial_test, clopper_pearson_interval
from agentanvil.stats.estimate import Estimate, Interval
from agentanvil.stats.interval import cluster_bootstrap_mean, mirrored_bootstrap_mean, wilson_interval
from agentanvil.stats.krippendorff import (
    ALPHA_BAR,
    Level,
    alpha_features,
    alpha_interval,
    alpha_of_features,
    krippendorff_alpha,
)
from agentanvil.stats.paired import win_rate, win_rate_interval
from agentanvil.stats.preference import combined_preference, log_odds, sigmoid
from agentanvil.stats.ranking import Strengths, bradley_terry, bradley_terry_intervals
from agentanvil.stats.spread import (
    mean,
    modal_agreement,
    pooled_sd,
    population_sd,
    sample_sd,
    unanimous_share,
)

__all__ = [
    "ALPHA_BAR",
    "BinomialTest",
    "Estimate",
    "Interval",
    "Level",
    "Strengths",
    "Weights",
    "adjacent_agreement",
    "agreement_table",
    "alpha_features",
    "alpha_interval",
    "alpha_of_features",
    "binomial_test",
    "bradley_terry",
    "bradley_terry_intervals",
    "clopper_pearson_interval",
    "cluster_bootstrap_mean",
    "cohen_kappa",
    "combined_preference",
    "exact_agreement",
    "kappa_interval",
    "kappa_of_tables",
    "krippendorff_alpha",
    "log_odds",
    "mean",
    "mirrored_bootstrap_mean",
    "modal_agreement",
    "pooled_sd",
    "population_sd",
    "sample_sd",
    "sigmoid",
    "unanimous_share",
    "wilson_interval",
    "win_rate",
    "win_rate_interval",
]
