"""Pure numeric functions: agreement, comparisons, intervals, spread.

What is undefined is a value of None with a reason.
"""

from agentanvil.stats.against import win_rate_against
from agentanvil.stats.agreement import (
    Weights,
    adjacent_agreement,
    agreement_table,
    cohen_kappa,
    exact_agreement,
    kappa_of_tables,
)
from agentanvil.stats.association import (
    Association,
    association_interval,
    association_of_items,
    kendall_tau_b,
    pearson,
    spearman,
)
from agentanvil.stats.bca import bca_bootstrap_mean
from agentanvil.stats.binomial import BinomialTest, binomial_test, clopper_pearson_interval
from agentanvil.stats.bounded import BoundedScores, bounded_mean_interval
from agentanvil.stats.clustered import clustered_se_mean, design_effect, design_effect_ratio
from agentanvil.stats.components import VarianceComponents, variance_components
from agentanvil.stats.confusion import ClassScores, Confusion, confusion_matrix, confusion_of_items, macro_f1_interval
from agentanvil.stats.correction import Corrected, CorrectedPair
from agentanvil.stats.error import (
    ErrorMeasure,
    mean_absolute_error,
    mean_error,
    mean_error_interval,
    signed_bias,
)
from agentanvil.stats.estimate import Estimate, Interval
from agentanvil.stats.exchange import exchange_test
from agentanvil.stats.hypothesis import (
    SignificanceTest,
    discordant,
    mcnemar_exact,
    mcnemar_midp,
    paired_differences,
    paired_permutation_test,
    wilcoxon_signed_rank,
)
from agentanvil.stats.interval import cluster_bootstrap_mean, mirrored_bootstrap_mean, wilson_interval
from agentanvil.stats.jackknife import jackknife_interval
from agentanvil.stats.kappa_features import (
    ONE_LABEL,
    kappa_difference,
    kappa_features,
    kappa_features_among,
    kappa_of_features,
    kappas_of_sums,
)
from agentanvil.stats.kappa_jackknife import kappa_items_interval
from agentanvil.stats.krippendorff import (
    ALPHA_BAR,
    Level,
    alpha_features,
    alpha_interval,
    alpha_of_features,
    alphas_of_sums,
    krippendorff_alpha,
)
from agentanvil.stats.misclassification import corrected_pass_rate, rogan_gladen
from agentanvil.stats.multiplicity import benjamini_hochberg, holm
from agentanvil.stats.multirater import GwetWeights, category_counts, fleiss_kappa, gwet_ac
from agentanvil.stats.nested import Component, Figure, NestedVariance, nested_variance
from agentanvil.stats.nested_features import FEATURES, nested_features
from agentanvil.stats.nested_figures import SOURCES, Source
from agentanvil.stats.paired import win_rate, win_rate_interval
from agentanvil.stats.paired_change import PairedChange, correlation_change, kappa_change
from agentanvil.stats.power import RequiredPairs, least_detectable_difference_paired, required_n_paired
from agentanvil.stats.ppi import corrected_mean, ppi_mean, ppi_mean_interval
from agentanvil.stats.ppi_weighted import weighted_corrected_mean
from agentanvil.stats.precision import least_detectable_difference, repeats_needed
from agentanvil.stats.preference import combined_preference, log_odds, sigmoid
from agentanvil.stats.probability import brier_score, expected_calibration_error
from agentanvil.stats.projection import least_deciding
from agentanvil.stats.ranking import Strengths, bradley_terry, bradley_terry_intervals
from agentanvil.stats.reliability import ICCForm, icc, icc_interval
from agentanvil.stats.sample_mean import mean_interval, share_interval, weighted_mean
from agentanvil.stats.sampling import Draw, inclusion_probabilities, successive_weights, systematic_sample
from agentanvil.stats.shift import Shift, mean_shift, weighted_shift
from agentanvil.stats.slope import Slope, clustered_slope
from agentanvil.stats.spread import (
    mean,
    mean_of_drawn,
    modal_agreement,
    pooled_sd,
    population_sd,
    sample_sd,
    unanimous_share,
)
from agentanvil.stats.totals import totals_interval
from agentanvil.stats.trials import mean_pass_at_k, mean_pass_hat_k, pass_at_k, pass_hat_k
from agentanvil.stats.weighting import effective_items, method_of, scaled_weights

__all__ = [
    "ALPHA_BAR",
    "FEATURES",
    "ONE_LABEL",
    "SOURCES",
    "Association",
    "BinomialTest",
    "BoundedScores",
    "ClassScores",
    "Component",
    "Confusion",
    "Corrected",
    "CorrectedPair",
    "Draw",
    "ErrorMeasure",
    "Estimate",
    "Figure",
    "GwetWeights",
    "ICCForm",
    "Interval",
    "Level",
    "NestedVariance",
    "PairedChange",
    "RequiredPairs",
    "Shift",
    "SignificanceTest",
    "Slope",
    "Source",
    "Strengths",
    "VarianceComponents",
    "Weights",
    "adjacent_agreement",
    "agreement_table",
    "alpha_features",
    "alpha_interval",
    "alpha_of_features",
    "alphas_of_sums",
    "association_interval",
    "association_of_items",
    "bca_bootstrap_mean",
    "benjamini_hochberg",
    "binomial_test",
    "bounded_mean_interval",
    "bradley_terry",
    "bradley_terry_intervals",
    "brier_score",
    "category_counts",
    "clopper_pearson_interval",
    "cluster_bootstrap_mean",
    "clustered_se_mean",
    "clustered_slope",
    "cohen_kappa",
    "combined_preference",
    "confusion_matrix",
    "confusion_of_items",
    "corrected_mean",
    "corrected_pass_rate",
    "correlation_change",
    "design_effect",
    "design_effect_ratio",
    "discordant",
    "effective_items",
    "exact_agreement",
    "exchange_test",
    "expected_calibration_error",
    "fleiss_kappa",
    "gwet_ac",
    "holm",
    "icc",
    "icc_interval",
    "inclusion_probabilities",
    "jackknife_interval",
    "kappa_change",
    "kappa_difference",
    "kappa_features",
    "kappa_features_among",
    "kappa_items_interval",
    "kappa_of_features",
    "kappa_of_tables",
    "kappas_of_sums",
    "kendall_tau_b",
    "krippendorff_alpha",
    "least_deciding",
    "least_detectable_difference",
    "least_detectable_difference_paired",
    "log_odds",
    "macro_f1_interval",
    "mcnemar_exact",
    "mcnemar_midp",
    "mean",
    "mean_absolute_error",
    "mean_error",
    "mean_error_interval",
    "mean_interval",
    "mean_of_drawn",
    "mean_pass_at_k",
    "mean_pass_hat_k",
    "mean_shift",
    "method_of",
    "mirrored_bootstrap_mean",
    "modal_agreement",
    "nested_features",
    "nested_variance",
    "paired_differences",
    "paired_permutation_test",
    "pass_at_k",
    "pass_hat_k",
    "pearson",
    "pooled_sd",
    "population_sd",
    "ppi_mean",
    "ppi_mean_interval",
    "repeats_needed",
    "required_n_paired",
    "rogan_gladen",
    "sample_sd",
    "scaled_weights",
    "share_interval",
    "sigmoid",
    "signed_bias",
    "spearman",
    "successive_weights",
    "systematic_sample",
    "totals_interval",
    "unanimous_share",
    "variance_components",
    "weighted_corrected_mean",
    "weighted_mean",
    "weighted_shift",
    "wilcoxon_signed_rank",
    "wilson_interval",
    "win_rate",
    "win_rate_against",
    "win_rate_interval",
]
