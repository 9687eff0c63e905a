"""A judge's figures corrected by a labelled subset: streams rows into counts of (score, label, weight)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentanvil.aggregate.corrected_summary import CorrectedSummary
from agentanvil.aggregate.frame import Frame
from agentanvil.aggregate.item import ItemResult


class CorrectedTally:
    """`add` every row once, labelled or not, then ask for the `result`; rows may come in any order."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame

    def add(self, result: ItemResult, labels: Mapping[str, Sequence[float]], weight: float | None = None) -> None:
        """Count one row, with its people's scores by dimension (none for an unlabelled row).

        `weight` is one over the probability with which the row was drawn to be labelled; give it for every labelled
        row or for none. Raises ValueError unless it is positive and finite.
        """

    def result(self) -> CorrectedSummary:
        """Return the corrected estimates; they are exact formulas, so there is no seed."""
        return CorrectedSummary(False, {}, (), None, "nothing was counted")
