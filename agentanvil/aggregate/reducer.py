"""One row's outcomes → what the item came to, whether one judge was asked or several."""

from __future__ import annotations

from dataclasses import replace

from agentanvil.aggregate.baseline import Baseline
from agentanvil.aggregate.frame import Frame, Reading
from agentanvil.aggregate.item import ItemOutcomes, ItemResult
from agentanvil.aggregate.jury import JuryTerms
from agentanvil.aggregate.panel.summary import PanelSummary
from agentanvil.aggregate.panel.tally import PanelTally
from agentanvil.aggregate.reduce import reduce_item
from agentanvil.plan import Plan
from agentanvil.rubric import Rubric


class Reducer:
    """The only way from outcomes to item results: whoever reads a run anew comes to what its reports say."""

    def __init__(
        self,
        rubric: Rubric,
        plan: Plan,
        *,
        reading: Reading = "verdict",
        baseline: Baseline | None = None,
        jury: JuryTerms | None = None,
    ) -> None:
        """`jury` says how several judges decide, by the median and more than half of them where it is None."""
        self.frame = Frame.of(rubric, plan.first, reading=reading, baseline=baseline)
        # One judge's rows pay nothing for there being panels.
        self._panel: PanelTally | None = None
        if plan.others:
            own = replace(plan.first, calls=tuple(call for call in plan.calls if not call.compared))
            alone = Frame.of(rubric, own, reading=reading, baseline=baseline)
            self._panel = PanelTally(self.frame, alone, plan, jury)

    def reduce(self, item: ItemOutcomes) -> ItemResult:
        """Return what one row came to. Raises ValueError as `reduce_item`."""
        return reduce_item(self.frame, item) if self._panel is None else self._panel.add(item)

    def panel(self, seed: int) -> PanelSummary | None:
        """Return what is told of several judges over all rows reduced so far, None for a single one."""
        return self._panel.result(seed) if self._panel is not None else None
