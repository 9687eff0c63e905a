"""Rows of one dimension, counted by what judge and people say: all that a correction needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from agentanvil.verdict import State

# A row that is labelled and has no sampling weight.
UNWEIGHTED = 0.0


@dataclass(frozen=True, slots=True)
class Human:
    """What people say of a row: the mean of their scores, and the share of them that pass it (None if nobody can)."""

    score: float
    passing: float | None


@dataclass(frozen=True, slots=True)
class Columns:
    """Rows side by side: `judge`, `human` and `weights` of the labelled ones, and `rest`, the judge on the others."""

    judge: list[float]
    human: list[float]
    weights: list[float] | None
    rest: list[float]


_Judge = tuple[float, bool]
_Labelled = tuple[float, bool, float, float | None, float]


class RowTally:
    """Counts rows; a few patterns of scores and labels, however many rows there are."""

    def __init__(self) -> None:
        self._labelled: Counter[_Labelled] = Counter()
        self._unlabelled: Counter[_Judge] = Counter()
        self.labelled_missing = self.unlabelled_missing = 0
        self.not_applicable = self.incomplete = self.off_scale = 0

    def add(self, score: float, passes: bool, human: Human | None, weight: float) -> None:
        """Count a row with a verdict, labelled or not."""
        if human is None:
            self._unlabelled[score, passes] += 1
        else:
            self._labelled[score, passes, human.score, human.passing, weight] += 1

    def add_missing(self, state: State, *, labelled: bool) -> None:
        """Count a row without a verdict."""
        if state == "not_applicable":
            self.not_applicable += 1
        elif labelled:
            self.labelled_missing += 1
        else:
            self.unlabelled_missing += 1

    def labelled(self, *, weighted: bool) -> int:
        """Return how many rows count as labelled."""
        return sum(self._labelled.values()) - self.unweighted(weighted=weighted)

    def unlabelled(self, *, weighted: bool) -> int:
        """Return how many rows count as unlabelled."""
        return sum(self._unlabelled.values()) + self.unweighted(weighted=weighted)

    def unweighted(self, *, weighted: bool) -> int:
        """Return how many labelled rows count as unlabelled, because only others have a sampling weight."""
        return sum(n for key, n in self._labelled.items() if weighted and key[-1] == UNWEIGHTED)

    def scores(self, *, weighted: bool) -> Columns:
        """Return the rows' scores."""
        rows = [((score, human, w), n) for (score, _, human, _, w), n in self._labelled.items()]
        return _columns(rows, (((score), n) for (score, _), n in self._unlabelled.items()), weighted=weighted)

    def passes(self, *, weighted: bool) -> Columns:
        """Return the rows' passes, as 0 and 1, and the share of people who pass each."""
        rows: list[tuple[tuple[float, float, float], int]] = []
        rest = [(float(passed), n) for (_, passed), n in self._unlabelled.items()]
        for (_, passed, _, human, weight), n in self._labelled.items():
            if human is None:
                rest.append((float(passed), n))
            else:
                rows.append(((float(passed), human, weight), n))
        return _columns(rows, rest, weighted=weighted)


def _columns(
    rows: Iterable[tuple[tuple[float, float, float], int]], rest: Iterable[tuple[float, int]], *, weighted: bool
) -> Columns:
    judge: list[float] = []
    human: list[float] = []
    weights: list[float] = []
    others = [score for score, n in rest for _ in range(n)]
    # In one order, whatever row came first: sums in another order differ in their last digit.
    for (score, label, weight), n in sorted(rows):
        if weighted and weight == UNWEIGHTED:
            others += [score] * n
            continue
        judge += [score] * n
        human += [label] * n
        weights += [weight] * n
    return Columns(judge, human, weights if weighted else None, sorted(others))
