"""Outcomes (+ labels) → one result per item and one summary of the run, streaming."""

from agentanvil.aggregate.baseline import Baseline
from agentanvil.aggregate.calibration.group_summary import Grouped, GroupedDimension, TopOne, Trials, WithinGroups
from agentanvil.aggregate.calibration.report import CalibrationReport, LabelDisagreement, LabelsUsed
from agentanvil.aggregate.calibration.summary import ClassFigures, DimensionCalibration, Humans
from agentanvil.aggregate.calibration.tally import CalibrationFigures, CalibrationTally
from agentanvil.aggregate.calibration.targets import Ratings
from agentanvil.aggregate.corrected.summary import (
    Caution,
    CorrectedDimension,
    CorrectedFigure,
    CorrectedSummary,
    Targets,
)
from agentanvil.aggregate.corrected.tally import CorrectedTally
from agentanvil.aggregate.dispute import Dispute
from agentanvil.aggregate.examples import lowest_dimension
from agentanvil.aggregate.frame import Frame, FrameDimension, Gated, Reading, gated_by
from agentanvil.aggregate.gate.summary import (
    FigureVerdict,
    Gate,
    GateCircumstances,
    GateFigure,
    GateRule,
    GateVerdict,
    KnownFailures,
)
from agentanvil.aggregate.item import DimensionResult, Gap, ItemOutcomes, ItemResult, Shortfall
from agentanvil.aggregate.jury import JuryRule, JuryTerms
from agentanvil.aggregate.measure import Agreement
from agentanvil.aggregate.measured import Measured
from agentanvil.aggregate.pair import PairCall, PairRepeat, PairResult, picked_slot, winner_of
from agentanvil.aggregate.pair_summary import (
    OrderAgreement,
    PairAgreement,
    Pairwise,
    Position,
    Preferences,
    Stated,
)
from agentanvil.aggregate.panel.summary import (
    Disagreement,
    Escalation,
    JudgeAgreement,
    JudgePair,
    PanelJudge,
    PanelSummary,
)
from agentanvil.aggregate.readings import ReadingSummary, UncertainItem
from agentanvil.aggregate.reduce import reduce_item
from agentanvil.aggregate.reducer import Reducer
from agentanvil.aggregate.spread import Spread
from agentanvil.aggregate.summariser import Summariser
from agentanvil.aggregate.summary import (
    CallWays,
    Coverage,
    DimensionSummary,
    MissingItem,
    MoreRepeats,
    OverallSummary,
    ScoreSummary,
    Straddle,
    Summary,
    WideItem,
    WorstItem,
)
from agentanvil.aggregate.trust import Further, Trust
from agentanvil.aggregate.usage import Usage
from agentanvil.aggregate.variance import RepeatsNeeded, Variance
from agentanvil.aggregate.wins import RankedModel, Ranking, WinRate
from agentanvil.plan import UNORDERED
from agentanvil.rubric import OVERALL

__all__ = [
    "OVERALL",
    "UNORDERED",
    "Agreement",
    "Baseline",
    "CalibrationFigures",
    "CalibrationReport",
    "CalibrationTally",
    "CallWays",
    "Caution",
    "ClassFigures",
    "CorrectedDimension",
    "CorrectedFigure",
    "CorrectedSummary",
    "CorrectedTally",
    "Coverage",
    "DimensionCalibration",
    "DimensionResult",
    "DimensionSummary",
    "Disagreement",
    "Dispute",
    "Escalation",
    "FigureVerdict",
    "Frame",
    "FrameDimension",
    "Further",
    "Gap",
    "Gate",
    "GateCircumstances",
    "GateFigure",
    "GateRule",
    "GateVerdict",
    "Gated",
    "Grouped",
    "GroupedDimension",
    "Humans",
    "ItemOutcomes",
    "ItemResult",
    "JudgeAgreement",
    "JudgePair",
    "JuryRule",
    "JuryTerms",
    "KnownFailures",
    "LabelDisagreement",
    "LabelsUsed",
    "Measured",
    "MissingItem",
    "MoreRepeats",
    "OrderAgreement",
    "OverallSummary",
    "PairAgreement",
    "PairCall",
    "PairRepeat",
    "PairResult",
    "Pairwise",
    "PanelJudge",
    "PanelSummary",
    "Position",
    "Preferences",
    "RankedModel",
    "Ranking",
    "Ratings",
    "Reading",
    "ReadingSummary",
    "Reducer",
    "RepeatsNeeded",
    "ScoreSummary",
    "Shortfall",
    "Spread",
    "Stated",
    "Straddle",
    "Summariser",
    "Summary",
    "Targets",
    "TopOne",
    "Trials",
    "Trust",
    "UncertainItem",
    "Usage",
    "Variance",
    "WideItem",
    "WinRate",
    "WithinGroups",
    "WorstItem",
    "gated_by",
    "lowest_dimension",
    "picked_slot",
    "reduce_item",
    "winner_of",
]
