"""What judge and people are compared on in each mode: scores, booleans, or winners."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from agentanvil.aggregate.as_read import nearest
from agentanvil.aggregate.frame import Frame
from agentanvil.aggregate.trust import Trust
from agentanvil.rubric import Mode, Scale
from agentanvil.stats import Estimate, Interval, Weights

Weighting = Literal["quadratic", "none"]


@dataclass(frozen=True, slots=True)
class Measure:
    """`values` are the categories, ascending; `read` and `label` tell which one a score or a label falls into.

    `absolute`: the scale's scores. `gate`: 0 and 1, a label passing from `threshold` on, a boolean being its own
    answer. `pairwise`: -1, 0 and 1, whose favour a number is in.
    """

    mode: Mode
    scale: Scale
    values: tuple[int, ...]
    threshold: float

    @classmethod
    def of(cls, frame: Frame, threshold: float) -> Measure:
        """Return the measure of a dimension that passes from `threshold` on."""
        if frame.mode == "absolute":
            return cls(frame.mode, frame.labelled, frame.labelled.values, threshold)
        if frame.mode == "gate":
            return cls(frame.mode, frame.labelled, (0, 1), threshold)
        return cls(frame.mode, frame.scale, (-1, 0, 1), threshold)

    @classmethod
    def of_overall(cls, frame: Frame) -> Measure:
        """Return the measure of the overall, whose labels are already categories of a gate's dimensions."""
        if frame.mode == "gate":
            return cls(frame.mode, frame.scale, (0, 1), 1)
        return cls.of(frame, 0)

    @property
    def weights(self) -> Weights | None:
        """How kappa counts distances: only scores have any."""
        return "quadratic" if self.mode == "absolute" else None

    @property
    def weighting(self) -> Weighting:
        """The name of `weights`."""
        return "none" if self.weights is None else "quadratic"

    def read(self, score: float) -> float:
        """Return the category of a judge's score: the nearest one, where it lies between two verdicts."""
        return float((score > 0) - (score < 0)) if self.mode == "pairwise" else nearest(score)

    def label(self, label: float) -> float | None:
        """Return the category of a label, None for one that is not on the scale."""
        if self.mode == "absolute":
            return label if label in self.values else None
        if self.mode == "gate":
            if isinstance(label, bool):
                return float(label)
            return float(label >= self.threshold) if self.scale.min <= label <= self.scale.max else None
        return self.read(label) if self.scale.min <= label <= self.scale.max else None


@dataclass(frozen=True, slots=True)
class Agreement:
    """Judge against human labels, over items that have both.

    Every repeat is compared with every rater and each item counts once, so the figures tell how far one call agrees
    with one person. `exact_interval` is Wilson's over items. `off_scale` counts labels that are no score of the
    rubric; they are not compared. `verdict` is by the interval of kappa, against the bar
    that `reading` names.
    """

    labelled: int
    off_scale: int
    exact: Estimate
    exact_interval: Interval
    adjacent: Estimate
    kappa: Estimate
    kappa_weights: Weighting
    kappa_interval: Interval
    verdict: Trust
    reading: str
