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

    `judge` is what the judge alone says of the same rows, `labels` the plain figure of the labelled rows (weighted,
    where there are weights). `population` estimates what people would say of the population that the rows are drawn
    from. `items` estimates what they would say of these very rows: of the unlabelled ones, with sampling weights of
    all rows. Its interval holds the judge's error alone, not that other rows might have been drawn.
    `method` names how the population's value was found and `items_method` how that of these rows was.
    """

    judge: Estimate
    labels: Estimate
    labels_interval: Interval
    population: Estimate
    population_interval: Interval
    items: Estimate
    items_interval: Interval
    method: str
    items_method: str
    cautions: tuple[Caution, ...]


@dataclass(frozen=True, slots=True)
class CorrectedDimension:
    """One dimension, or the overall.

    `labelled` rows have a label and a verdict, `unlabelled` ones a verdict alone. Rows whose verdict is missing are
    counted beside them and take no part, as are rows to which the dimension does not apply; `incomplete` rows have
    labels, but not those that the figure needs, and count as unlabelled. `off_scale` counts labels outside the scale.
    `shift` is the judge's mean over the labelled rows less that over the unlabelled ones (with weights: the weighted
    labelled rows less all rows); labels drawn at random leave none. `mean` is None in a gate, whose mean is its pass
    rate, and `pass_rate` where nothing says what passes (`threshold` is None).
    """

    id: str
    labelled: int
    unlabelled: int
    labelled_missing: int
    unlabelled_missing: int
    not_applicable: int
    incomplete: int
    off_scale: int
    shift: Estimate
    shift_interval: Interval
    threshold: float | None
    mean: CorrectedFigure | None
    pass_rate: CorrectedFigure | None
    cautions: tuple[Caution, ...]


@dataclass(frozen=True, slots=True)
class CorrectedSummary:
    """All corrected estimates of a run. `weighted`: the labels came with sampling weights.

    `targets` says in words what `population` and `items` are estimates of. Without dimensions there is a `reason`.
    """

    weighted: bool
    targets: dict[str, str]
    dimensions: tuple[CorrectedDimension, ...]
    overall: CorrectedDimension | None
    reason: str | None = None
