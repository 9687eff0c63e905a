"""A whole run against its labels, streaming: every target, groups, corrected estimates, the worst disagreements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agentanvil.aggregate.calibration.dimension import TargetTally
from agentanvil.aggregate.calibration.examples import WorstDisagreements
from agentanvil.aggregate.calibration.group_summary import Grouped
from agentanvil.aggregate.calibration.groups import GroupTally
from agentanvil.aggregate.calibration.report import LabelDisagreement, OverallFrom
from agentanvil.aggregate.calibration.summary import DimensionCalibration
from agentanvil.aggregate.calibration.targets import Ratings, Sides, Target, targets_of
from agentanvil.aggregate.corrected.rows import UNWEIGHTED
from agentanvil.aggregate.corrected.summary import CorrectedSummary
from agentanvil.aggregate.corrected.tally import CorrectedTally
from agentanvil.aggregate.frame import Frame
from agentanvil.aggregate.item import ItemResult
from agentanvil.aggregate.trust import Trust


@dataclass(frozen=True, slots=True)
class CalibrationFigures:
    """What the items come to. `labelled` counts those with a label on any target."""

    items: int
    labelled: int
    dimensions: tuple[DimensionCalibration, ...]
    overall: DimensionCalibration | None
    overall_from: OverallFrom | None
    groups: Grouped | None
    corrected: CorrectedSummary
    disagreements: tuple[LabelDisagreement, ...]

    @property
    def verdict(self) -> Trust | None:
        """The worst verdict of all that was labelled, None where nothing was."""
        found = {each.verdict for each in (*self.dimensions, *([self.overall] if self.overall else []))}
        worst: tuple[Trust, ...] = ("UNTRUSTED", "INCONCLUSIVE", "TRUSTED")
        return next((verdict for verdict in worst if verdict in found), None)


class CalibrationTally:
    """`add` every item once, labelled or not. `named`: raters are known by name, not by their place.

    `group_field` is what groups are called; None where items are not grouped. In pairs they never are, since a pair
    compares within a request already.
    """

    def __init__(self, frame: Frame, *, named: bool, group_field: str | None = None) -> None:
        self._targets = targets_of(frame)
        self._tallies = [TargetTally(target, named=named) for target in self._targets]
        self._field = group_field
        self._groups = [GroupTally(target, frame) for target in self._targets]
        self._group_names: set[str] = set()
        self._grouped = self._ungrouped = 0
        self._corrected = CorrectedTally(frame)
        self._worst = WorstDisagreements()
        self._items = self._labelled = 0
        self._weighted = False

    def add(self, result: ItemResult, ratings: Ratings, weight: float | None = None, group: str | None = None) -> None:
        """Count one item with its labels (none for most), its sampling weight, and the group it is in.

        A weight is one over the probability with which the item was drawn to be labelled, positive and finite.
        """
        self._items += 1
        self._corrected.add(result, _columns(ratings), weight)
        if not ratings:
            return
        self._weighted |= weight is not None
        met: list[tuple[Target, Sides]] = []
        for target, tally, groups in zip(self._targets, self._tallies, self._groups, strict=True):
            sides = target.sides(result, ratings)
            if sides is None:
                continue
            tally.add(sides, UNWEIGHTED if weight is None else weight)
            if group is not None:
                groups.add(group, sides)
            if target.source == "own":
                met.append((target, sides))
        if not met:
            return
        self._labelled += 1
        self._worst.add(result, met)
        if self._field is not None:
            self._grouped += group is not None
            self._ungrouped += group is None
            if group is not None:
                self._group_names.add(group)

    def finish(self, seed: int, level: float, min_kappa: float) -> CalibrationFigures:
        """Return everything, with intervals at `level`; `seed` drives the resampling."""
        chosen, weighted = self._chosen(), self._weighted
        found = {place: self._tallies[place].result(seed, level, min_kappa, weighted=weighted) for place in chosen}
        dimensions, overall = [place for place in chosen if self._is_dimension(place)], chosen[-1]
        rest = None if self._is_dimension(overall) else self._tallies[overall]
        return CalibrationFigures(
            items=self._items,
            labelled=self._labelled,
            dimensions=tuple(found[place] for place in dimensions),
            overall=None if rest is None else found[overall],
            overall_from=None if rest is None else _overall_from(rest.target),
            groups=self._grouped_part(chosen, seed, level),
            corrected=self._corrected.result(level),
            disagreements=self._worst.items,
        )

    def _is_dimension(self, place: int) -> bool:
        return self._targets[place].kind in ("judged", "check")

    def _chosen(self) -> list[int]:
        """Return the places of the dimensions' targets, and of the overall's that has labels, people's own first.

        A minimum says nothing where people labelled some dimension nowhere, which theirs then never is.
        """
        places = list(range(len(self._targets)))
        judged = [t.labelled for t in self._tallies if t.target.kind == "judged"]
        overalls = [
            place
            for place in places
            if not self._is_dimension(place)
            and self._tallies[place].labelled
            and (self._targets[place].source == "own" or all(judged))
        ]
        return [place for place in places if self._is_dimension(place)] + overalls[:1]

    def _grouped_part(self, chosen: list[int], seed: int, level: float) -> Grouped | None:
        if self._field is None:
            return None
        found = [self._groups[place] for place in chosen if self._tallies[place].labelled]
        return Grouped(
            field=self._field,
            groups=len(self._group_names),
            items=self._grouped,
            without=self._ungrouped,
            dimensions=tuple(tally.result(seed, level) for tally in found),
        )


def _columns(ratings: Ratings) -> Mapping[str, list[float | None]]:
    """Return the labels of each dimension by rater, in one order for all, None where one gave none."""
    raters = sorted({rater for given in ratings.values() for rater, _ in given})
    by_rater = {name: dict(given) for name, given in ratings.items()}
    return {name: [given.get(rater) for rater in raters] for name, given in by_rater.items()}


def _overall_from(target: Target) -> OverallFrom:
    if target.kind == "winner":
        return "winner"
    return "labels" if target.source == "own" else "minimum"
