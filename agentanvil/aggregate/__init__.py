"""Outcomes (+ labels) → one result per item and one summary of the run, streaming."""

from agentanvil.aggregate.baseline import Baseline
from agentanvil.aggregate.examples import lowest_dimension
from agentanvil.aggregate.frame import Frame, FrameDimension, Reading, gated_by
from agentanvil.aggregate.item import DimensionResult, Gap, ItemOutcomes, ItemResult, Shortfall
from agentanvil.aggregate.reduce import reduce_item
from agentanvil.aggregate.spread import Spread
from agentanvil.aggregate.summariser import Summariser
from agentanvil.aggregate.summary import (
    Agreement,
    Coverage,
    DimensionSummary,
    Gate,
    GateVerdict,
    MissingItem,
    OverallSummary,
    ScoreSummary,
    Straddle,
    Summary,
    Usage,
    WideItem,
    WorstItem,
)
from agentanvil.plan import UNORDERED
from agentanvil.rubric import OVERALL

__all__ = [
    "OVERALL",
    "UNORDERED",
    "Agreement",
    "Baseline",
    "Coverage",
    "DimensionResult",
    "DimensionSummary",
    "Frame",
    "FrameDimension",
    "Gap",
    "Gate",
    "GateVerdict",
    "ItemOutcomes",
    "ItemResult",
    "MissingItem",
    "OverallSummary",
    "Reading",
    "ScoreSummary",
    "Shortfall",
    "Spread",
    "Straddle",
    "Summariser",
    "Summary",
    "Usage",
    "WideItem",
    "WorstItem",
    "gated_by",
    "lowest_dimension",
    "reduce_item",
]
