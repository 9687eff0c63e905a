"""One whole calibration, as `calibration.json` holds it: field order is the order there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from agentanvil.aggregate.calibration.group_summary import Grouped
from agentanvil.aggregate.calibration.summary import DimensionCalibration
from agentanvil.aggregate.corrected.summary import CorrectedSummary
from agentanvil.aggregate.frame import Reading
from agentanvil.aggregate.trust import Trust
from agentanvil.rubric import Mode

OverallFrom = Literal["labels", "minimum", "winner"]


@dataclass(frozen=True, slots=True)
class Rating:
    """What one rater said."""

    rater: str
    label: float


@dataclass(frozen=True, slots=True)
class LabelDisagreement:
    """An item on which judge and people lie far apart: `distance` in spans of the scale, 0..1.

    `scores` are the judge's repeats. Evidence and reason are of the repeat that lies farthest from the labels. The
    texts are None where the data file is not at hand.
    """

    index: int
    id: str
    dimension: str
    distance: float
    score: float
    scores: tuple[float, ...]
    label: float
    labels: tuple[Rating, ...]
    evidence: tuple[str, ...]
    rival_evidence: tuple[str, ...]
    evidence_found: bool | None
    reason: str
    request: str | None = None
    response: str | None = None
    response_b: str | None = None


@dataclass(frozen=True, slots=True)
class LabelsUsed:
    """Where the labels came from. `unknown` counts items of the file that the run does not have.

    `replaced` counts items whose labels in the rows gave way to those of the file.
    """

    source: Literal["rows", "file"]
    file: str | None
    hash: str | None
    items: int
    raters: tuple[str, ...]
    weighted: bool
    blank: int
    unknown: int
    replaced: int


@dataclass(frozen=True, slots=True)
class CalibrationReport:
    """One calibration. `rubric_hash` to `reading` say of which instrument it is; `overall` is the winner in pairwise.

    `overall_from`: `labels` where people gave an overall of their own, `minimum` where both sides' is the minimum over
    the judged dimensions.
    """

    format: int
    rubric_id: str
    rubric_hash: str
    judge: str
    prompt_version: str
    mode: Mode
    evidence: str
    reading: Reading
    min_kappa: float
    level: float
    verdict: Trust | None
    labels: LabelsUsed
    items: int
    labelled: int
    dimensions: tuple[DimensionCalibration, ...]
    overall: DimensionCalibration | None
    overall_from: OverallFrom | None
    groups: Grouped | None
    corrected: CorrectedSummary
    disagreements: tuple[LabelDisagreement, ...]
    texts_missing: str | None
    notes: tuple[str, ...]
