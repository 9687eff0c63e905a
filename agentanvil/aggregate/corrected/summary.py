"""Corrected estimates as records: what the labels say the rows are worth, once the judge's error is taken out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from agentanvil.stats import Estimate, Interval

CautionCode = Literal[
    "nothing_labelled",
    "nothing_unlabelled",
    "few_labels",
    "no_interval",
    "shift",
    "weights_do_not_fit",
    "missing_verdicts",
    "unweighted_labels",
    "off_scale",
    "outside_scale",
]


@dataclass(frozen=True, slots=True)
class Caution:
    """What a person must know before believing a figure; `code` is stable."""

    code: CautionCode
    text: str


@dataclass(frozen=True, slots=True)
class CorrectedFigure:
    """A mean or a pass rate with the judge's error taken out.

    `judge` is what the judge alone says of the rows that the correction takes it from: the unlabelled ones, with
    sampling weights all. `labels` is the plain figure of the labelled rows (weighted, where there are weights).
    `population` estimates what people would say of the population that the rows are drawn from. `items` estimates what
    they would say of these very rows: the unlabelled ones, with sampling weights all. Its interval holds the judge's
    error alone, not that other rows might have been drawn. `shift` is the judge's figure over the labelled rows less
    that over the unlabelled ones (with weights: the weighted labelled rows less all rows); labels drawn at random
    leave none.
    """

    labelled: int
    unlabelled: int
    judge: Estimate
    labels: Estimate
    labels_interval: Interval
    population: Estimate
    population_interval: Interval
    items: Estimate
    items_interval: Interval
    shift: Estimate
    shift_interval: Interval
    cautions: tuple[Caution, ...]


@dataclass(frozen=True, slots=True)
class CorrectedDimension:
    """One dimension, or the overall.

    `labelled` rows have a label and a verdict, `unlabelled` ones a verdict alone. Rows whose verdict is missing are
    counted beside them and take no part, as are rows to which the dimension does not apply. `incomplete` rows have
    labels, but not those that the figures need, and `unweighted` ones labels without a sampling weight, where others
    have one: both count as unlabelled. `off_scale` counts labels outside the scale. `mean` is None in a gate, whose
    mean is its pass rate; `pass_rate` where nothing says what passes (`threshold` is None; the overall's is the whole
    gate, `gate`). Both are None where nothing is labelled.
    """

    id: str
    labelled: int
    unlabelled: int
    labelled_missing: int
    unlabelled_missing: int
    not_applicable: int
    incomplete: int
    unweighted: int
    off_scale: int
    threshold: float | Literal["gate"] | None
    mean: CorrectedFigure | None
    pass_rate: CorrectedFigure | None
    cautions: tuple[Caution, ...]


@dataclass(frozen=True, slots=True)
class Targets:
    """What `population` and `items` are estimates of, in words."""

    population: str
    items: str


@dataclass(frozen=True, slots=True)
class CorrectedSummary:
    """All corrected estimates of a run. `weighted`: the labels came with sampling weights.

    Dimensions that nobody labelled are left out if they are checks. In pairwise there is nothing but a `reason`.
    """

    weighted: bool
    targets: Targets
    dimensions: tuple[CorrectedDimension, ...]
    overall: CorrectedDimension | None
    reason: str | None = None
