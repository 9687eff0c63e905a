"""Where a second judge is asked, told from what the first one said: the same journal always tells the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from agentanvil.plan.condition import MEASURES, Condition, Reading
from agentanvil.plan.tasks import BY_CODE, Plan
from agentanvil.rubric import OVERALL, Rubric
from agentanvil.verdict import NO_EVIDENCE, Because, Cell, NotApplicable, Outcome, Scored

HALF_A_STEP = 0.5
UNDECIDED = (0.35, 0.65)
"""A gate's probabilities of a pass that are near its threshold."""

Key = tuple[str, int, int]


@dataclass(slots=True)
class Escalation:
    """The places of each row that the last seat of a plan is asked about, and why.

    A call that lacks a verdict is `missing`, whatever the condition says; one with a verdict of which it holds is
    `unsure`; what is neither is asked about as well where the item is in the seat's random `share`. Calls and repeats
    stand alone; the two orders of a pair go together, since one of them alone measures the place as well.

    `near_gate` holds for a verdict whose reading (the expected score where there is one, else the score) lies within
    half a step of the scale of its dimension's own threshold; and where the overall of the same repeat lies that near
    to its threshold, for each verdict that may decide it: those that lie near it themselves under `min`, all that have
    a weight under `weighted`. In a gate it holds for a probability of a pass in `UNDECIDED`.

    `unread` names the measures that the condition asks for and that no verdict has had yet.
    """

    rubric: Rubric
    plan: Plan
    condition: Condition
    unread: set[str] = field(init=False)
    _calls: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.unread = {name for name in MEASURES if name in self.condition.terms}
        self._calls = frozenset(call.name for call in self.plan.calls if call.judged and not call.compared)

    @property
    def seat(self) -> int:
        """The seat that is escalated to."""
        return len(self.plan.others)

    def due(self, item_id: str, outcomes: Iterable[Outcome]) -> dict[Key, Because]:
        """Return the places of an item to ask about, by call, repeat and place.

        `outcomes` are those that the first judge and code brought; a place without one is not asked about yet.
        """
        judged: dict[tuple[str, int], list[Outcome]] = defaultdict(list)
        repeats: dict[int, dict[str, float]] = defaultdict(dict)
        checked: dict[str, float] = {}
        for outcome in outcomes:
            if outcome.call in self._calls:
                judged[outcome.call, outcome.repeat].append(outcome)
                _note(outcome, repeats[outcome.repeat])
            elif outcome.judge == BY_CODE:
                _note(outcome, checked)
        rest: Because = "share" if self.plan.is_drawn(self.seat, item_id) else ""
        found: dict[Key, Because] = {}
        for (call, repeat), orders in judged.items():
            overall = self._overall(checked | repeats[repeat])
            reasons = {self._because(outcome, overall) for outcome in orders}
            because = next((each for each in ("missing", "unsure") if each in reasons), rest)
            if because:
                found.update({(call, repeat, self.plan.place_of(outcome.order)): because for outcome in orders})
        return found

    def _because(self, outcome: Outcome, overall: float | None) -> Because:
        cells = outcome.cells
        if not all(isinstance(cell, Scored | NotApplicable) for cell in cells.values()):
            return "missing"
        readings = [self._reading(name, cell, overall) for name, cell in cells.items()]
        if self.unread:
            self.unread -= {name for name in self.unread for each in readings if getattr(each, name) is not None}
        return "unsure" if any(map(self.condition.holds, readings)) else ""

    def _reading(self, name: str, cell: Cell, overall: float | None) -> Reading:
        if not isinstance(cell, Scored):
            return Reading()
        return Reading(
            entropy=cell.entropy,
            margin=None if cell.preference is None else abs(2 * cell.preference - 1),
            near_gate=self._near_gate(name, cell, overall),
            no_evidence=None if self.rubric.evidence == "none" else NO_EVIDENCE in cell.flags,
        )

    def _near_gate(self, name: str, cell: Scored, overall: float | None) -> bool | None:
        rubric = self.rubric
        if rubric.mode == "pairwise":
            return None
        if rubric.mode == "gate":
            passes = cell.expected_score
            return None if passes is None else UNDECIDED[0] <= passes <= UNDECIDED[1]
        own, whole = rubric.gate.get(name), rubric.gate.get(OVERALL)
        if own is None and whole is None:
            return None
        value = _value(cell)
        if _near(value, own):
            return True
        decides = bool(rubric.overall.weights.get(name)) if rubric.overall.rule == "weighted" else _near(value, whole)
        return decides and overall is not None and _near(overall, whole)

    def _overall(self, values: Mapping[str, float]) -> float | None:
        """Return the overall of one repeat over the dimensions that have a score."""
        if not values:
            return None
        if self.rubric.overall.rule == "min":
            return min(values.values())
        weights = {name: self.rubric.overall.weights.get(name, 0.0) for name in values}
        total = sum(weights.values())
        return sum(weights[name] * value for name, value in values.items()) / total if total else None


def _note(outcome: Outcome, values: dict[str, float]) -> None:
    values.update({name: _value(cell) for name, cell in outcome.cells.items() if isinstance(cell, Scored)})


def _value(cell: Scored) -> float:
    return cell.score if cell.expected_score is None else cell.expected_score


def _near(value: float, threshold: float | None) -> bool:
    return threshold is not None and abs(value - threshold) <= HALF_A_STEP
