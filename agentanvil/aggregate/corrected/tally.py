"""A judge's figures corrected by a labelled subset: streams rows into counts of (score, label, weight)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from agentanvil.aggregate.as_read import PASSES_FROM
from agentanvil.aggregate.corrected.figure import mean_figure, pass_figure
from agentanvil.aggregate.corrected.people import Labels, People, gate_holds, gated_state
from agentanvil.aggregate.corrected.rows import UNWEIGHTED, RowTally
from agentanvil.aggregate.corrected.summary import Caution, CorrectedDimension, CorrectedSummary, Targets
from agentanvil.aggregate.frame import Frame, FrameDimension
from agentanvil.aggregate.item import ItemResult
from agentanvil.rubric import OVERALL

_DRAWN = Targets(
    population="the population of which labelled and unlabelled rows are random samples",
    items="the unlabelled rows themselves",
)
_WEIGHTED = Targets(
    population="the population of which all rows, labelled and not, are a random sample",
    items="all these rows themselves, labelled and not",
)


class CorrectedTally:
    """`add` every row once, labelled or not, then ask for the `result`; rows may come in any order."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._people = People(frame)
        self._weighted = False
        self._dimensions = [RowTally() for _ in frame.dimensions]
        # By people's own labels of the overall, and by what follows from those of its dimensions.
        self._overalls = {own: RowTally() for own in (True, False)}
        self._holds = [_holds(frame, layout) for layout in frame.dimensions]

    def add(self, result: ItemResult, labels: Labels, weight: float | None = None) -> None:
        """Count one row, with its people's scores by dimension (none for an unlabelled row).

        Each dimension has one label a rater, in the same order; None where that rater left it out. Under `overall` may
        stand labels of the overall itself; where any row has them, they are what the overall is held against.
        `weight` is one over the probability with which the row was drawn to be labelled; give it for every labelled
        row or for none. Raises ValueError unless it is positive and finite.
        """
        if self._frame.mode == "pairwise":
            return
        labelled = any(label is not None for column in labels.values() for label in column)
        share = UNWEIGHTED
        if labelled and weight is not None:
            if not (math.isfinite(weight) and weight > 0):
                raise ValueError(f"a sampling weight must be positive and finite, not {weight}")
            share, self._weighted = weight, True
        for place in range(len(self._dimensions)):
            self._add_dimension(place, result, labels if labelled else {}, share)
        self._add_overall(result, labels if labelled else {}, share)

    def result(self, level: float = 0.95) -> CorrectedSummary:
        """Return the corrected estimates with intervals at `level`. They are formulas, so there is no seed."""
        targets = _WEIGHTED if self._weighted else _DRAWN
        if self._frame.mode == "pairwise":
            return CorrectedSummary(False, targets, (), None, "winners are neither scores nor passes")
        rows = zip(self._frame.dimensions, self._dimensions, strict=True)
        found = [(layout, tally) for layout, tally in rows if layout.kind == "judged" or tally.labelled(weighted=False)]
        thresholds = self._thresholds()
        overall = self._overalls[self._overalls[True].labelled(weighted=False) > 0]
        return CorrectedSummary(
            weighted=self._weighted,
            targets=targets,
            dimensions=tuple([self._dimension(d.id, tally, thresholds.get(d.id), level) for d, tally in found]),
            overall=self._dimension(OVERALL, overall, "gate" if self._frame.gated else None, level),
        )

    def _add_dimension(self, place: int, result: ItemResult, labels: Labels, weight: float) -> None:
        tally, found = self._dimensions[place], result.dimensions[place]
        column = labels.get(found.id, ())
        usable: Sequence[float] = ()
        if column:
            read = [self._people.label(place, label) for label in column if label is not None]
            usable = [label for label in read if label is not None]
            tally.off_scale += len(read) - len(usable)
        if found.spread is None:
            tally.add_missing(found.state, labelled=bool(usable))
            return
        score = found.spread.mean
        tally.add(score, score >= self._holds[place], self._people.of_dimension(place, usable), weight)

    def _add_overall(self, result: ItemResult, labels: Labels, weight: float) -> None:
        state = gated_state(self._frame, result)
        passes = state == "scored" and gate_holds(self._frame, result)
        for own, tally in self._overalls.items():
            told = OVERALL in labels if own else bool(labels)
            human = self._people.of_overall(result, labels, own=own) if told else None
            if state != "scored" or result.overall is None:
                tally.add_missing(state, labelled=human is not None)
            else:
                tally.incomplete += bool(labels) and human is None
                tally.add(result.overall, passes, human, weight)

    def _thresholds(self) -> dict[str, float]:
        """Return what each dimension must reach, on the scale of the labels, where the rubric says so."""
        frame = self._frame
        of_all = frame.mode == "gate" or (frame.rule == "min" and OVERALL in frame.thresholds)
        return {d.id: d.threshold for d in frame.dimensions if of_all or d.id in frame.thresholds}

    def _dimension(self, name: str, tally: RowTally, threshold: float | str | None, level: float) -> CorrectedDimension:
        weighted = self._weighted
        labelled = tally.labelled(weighted=weighted)
        scores = self._frame.mode == "absolute" and labelled > 0
        passes = threshold is not None and labelled > 0
        return CorrectedDimension(
            id=name,
            labelled=labelled,
            unlabelled=tally.unlabelled(weighted=weighted),
            labelled_missing=tally.labelled_missing,
            unlabelled_missing=tally.unlabelled_missing,
            not_applicable=tally.not_applicable,
            incomplete=tally.incomplete,
            unweighted=tally.unweighted(weighted=weighted),
            off_scale=tally.off_scale,
            threshold="gate" if isinstance(threshold, str) else threshold,
            mean=mean_figure(tally.scores(weighted=weighted), self._frame.scale, level) if scores else None,
            pass_rate=pass_figure(tally.passes(weighted=weighted), level) if passes else None,
            cautions=tuple(_cautions(tally, weighted=weighted)),
        )


def _holds(frame: Frame, layout: FrameDimension) -> float:
    """Return from which of the judge's scores on a dimension passes."""
    if frame.mode == "gate":
        return PASSES_FROM if frame.expects and layout.kind == "judged" else 1.0
    return layout.threshold


def _cautions(tally: RowTally, *, weighted: bool) -> list[Caution]:
    found: list[Caution] = []
    if not tally.labelled(weighted=weighted):
        found.append(
            Caution("nothing_labelled", "no row has both labels and a verdict: there is nothing to correct by")
        )
    elif not tally.unlabelled(weighted=weighted) and not weighted:
        text = "every row is labelled: the labels' own figure needs no correction"
        found.append(Caution("nothing_unlabelled", text))
    missing = tally.labelled_missing + tally.unlabelled_missing
    if missing:
        text = f"{missing} row(s) have no verdict and take no part: the figures are of rows that the judge can score"
        found.append(Caution("missing_verdicts", text))
    unweighted = tally.unweighted(weighted=weighted)
    if unweighted:
        text = f"{unweighted} labelled row(s) have no sampling weight, as others have: they count as unlabelled"
        found.append(Caution("unweighted_labels", text))
    if tally.off_scale:
        found.append(Caution("off_scale", f"{tally.off_scale} label(s) lie outside the scale and are not used"))
    return found
