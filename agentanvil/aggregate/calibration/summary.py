"""What a judge measured against people comes to on one dimension. Field order is the order in `calibration.json`.

A *reading* is one repeat of the judge, a *label* what one rater said. Figures on categories (agreement, kappa, alpha,
confusion) set every reading of an item against every label of it, and each item counts once: how far one call agrees
with one person. Figures on numbers (correlations, errors) set the item's score, the mean of its repeats, against the
mean of its labels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from agentanvil.aggregate.measure import Weighting
from agentanvil.aggregate.measured import Measured
from agentanvil.aggregate.trust import Further, Trust
from agentanvil.stats import Estimate

TargetKind = Literal["judged", "check", "overall", "winner"]


@dataclass(frozen=True, slots=True)
class Alphas:
    """Krippendorff's alpha at three levels; the nominal and ordinal ones take labels on the scale alone."""

    nominal: Measured
    ordinal: Measured
    interval: Measured


@dataclass(frozen=True, slots=True)
class Confusion:
    """How often each verdict met each label, in items: repeats and raters share the one that their item counts as.

    Items with sampling weights count by these, on the scale on which they sum to the number of items.

    `counts[verdict][label]` stands in the order of `values`, and its last row are the items without any verdict.
    """

    values: tuple[str, ...]
    counts: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class ClassFigure:
    """One category: how many of the judge's are the label's too, how many of the label's the judge found, and F1."""

    value: str
    precision: Estimate
    recall: Estimate
    f1: Estimate


@dataclass(frozen=True, slots=True)
class ClassFigures:
    """How well verdicts name the label. Macro averages are over the categories that either side used.

    `policy` says what became of items without a verdict.
    """

    policy: str
    accuracy: Measured
    macro_f1: Measured
    macro_precision: Estimate
    macro_recall: Estimate
    kappa: Measured
    classes: tuple[ClassFigure, ...]


@dataclass(frozen=True, slots=True)
class Classes:
    """Class figures of booleans and winners: without the items that lack a verdict, and with them.

    `answered` and `counted` set each reading against each rater; `majority` sets the item's verdict against what more
    than half of its raters said (None with a single rater), `majority_counted` likewise; `split` counts the items
    whose raters have no majority.
    """

    answered: ClassFigures
    counted: ClassFigures
    majority: ClassFigures | None
    majority_counted: ClassFigures | None
    split: int


@dataclass(frozen=True, slots=True)
class RaterPair:
    """Two raters on the items that both labelled, and their kappa."""

    a: str
    b: str
    kappa: Measured


@dataclass(frozen=True, slots=True)
class RaterKappa:
    """The judge against one rater."""

    rater: str
    labels: int
    kappa: Measured


@dataclass(frozen=True, slots=True)
class Humans:
    """How far people agree among themselves: what a judge can be asked for.

    `items` have two labels or more. `kappa` sets each rater of an item against each other one, each item counting
    once; `judge` is the judge against one person over the same items, and `difference` is `judge` minus `kappa`, with
    an interval that leaves each item out of both. `pairs` holds the raters that can be told apart, none where they are
    too many, and `mean_pair_kappa` their mean (n counts pairs), beside `mean_judge_kappa`, the judge's with each of
    them.
    """

    items: int
    raters: int
    kappa: Measured
    judge: Measured
    difference: Measured
    fleiss: Measured
    alpha: Alphas
    mean_pair_kappa: Estimate
    mean_judge_kappa: Estimate
    pairs: tuple[RaterPair, ...]
    judge_pairs: tuple[RaterKappa, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Probabilities:
    """The other reading of the same calls: the score that the judge's probabilities expect, against the labels.

    There where the run is read by its verdicts and probabilities came back. In a gate the expected score is the
    probability of a pass, and `brier` and `calibration_error` say how far it is one.
    """

    spearman: Measured
    kendall_tau_b: Measured
    pearson: Measured
    mean_absolute_error: Measured
    bias: Measured
    brier: Measured | None
    calibration_error: Estimate | None


@dataclass(frozen=True, slots=True)
class DimensionCalibration:
    """The judge against people on one dimension, on the overall, or on the winner.

    `labelled` counts items, `labels` all their labels, of which `off_scale` are no score on offer: kappa and what else
    needs categories leaves those out. `weighted`: every figure counts items by their sampling weights, so that it is of
    all items from which the labelled ones were drawn. `unweighted` items have no weight while others do, and are left
    out; `effective_n` is Kish's effective number of kappa's items, None without weights. `missing` counts the labelled
    items without a verdict by what became of it. `verdict` is None where nobody labelled it. Bias is judge minus label.
    """

    id: str
    kind: TargetKind
    verdict: Trust | None
    reading: str
    further: Further | None
    labelled: int
    labels: int
    off_scale: int
    weighted: bool
    unweighted: int
    effective_n: float | None
    missing: Mapping[str, int]
    kappa: Measured
    kappa_weights: Weighting
    exact: Measured
    adjacent: Measured
    spearman: Measured
    kendall_tau_b: Measured
    pearson: Measured
    alpha: Alphas
    mean_absolute_error: Measured
    bias: Measured
    confusion: Confusion
    classes: Classes | None
    humans: Humans | None
    probabilities: Probabilities | None
