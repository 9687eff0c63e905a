"""Strengths of several competitors from comparisons in pairs: the model of Bradley and Terry (1952).

Log strengths have mean 0; one beats another with probability 1 / (1 + e^(theirs − its own)). A tie is half a win for
each side. Estimates are finite and unique exactly where every competitor can be reached from every other by a chain
of wins (Ford 1957; assumption 1 of Hunter 2004, "MM algorithms for generalized Bradley-Terry models").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agentanvil.stats.estimate import Interval
from agentanvil.stats.interval import RESAMPLES
from agentanvil.stats.resample import percentile_ends, resampled_totals

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_ROUNDS = 200
_CONVERGED = 1e-12
# Newton's step may overshoot where nearly all comparisons went one way.
_LONGEST_STEP = 1.0
_MAX_UNDEFINED_SHARE = 0.05
_DECIMALS = 9


@dataclass(frozen=True, slots=True)
class Strengths:
    """Log strengths in the order of the competitors. `values` is None exactly when `reason` says why."""

    values: tuple[float, ...] | None
    reason: str | None = None


def bradley_terry(points: Sequence[Sequence[float]]) -> Strengths:
    """Return the maximum-likelihood log strengths; `points[i][j]` is how often i beat j, half for a tie."""
    table = np.array(points, dtype=np.float64)
    if len(table) < 2:
        return Strengths(None, "fewer than two competitors")
    np.fill_diagonal(table, 0)
    why = _unidentified(table)
    if why is not None:
        return Strengths(None, why)
    return Strengths(tuple(round(float(value), _DECIMALS) + 0.0 for value in _fitted(table[np.newaxis])[0]))


def bradley_terry_intervals(
    patterns: Sequence[Sequence[float]],
    multiplicity: Sequence[int],
    competitors: int,
    *,
    seed: int,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> list[Interval]:
    """Return the percentile interval of each competitor's log strength, resampling clusters of comparisons.

    `patterns[c]` is the table of points of one kind of cluster, row by row, `multiplicity[c]` how many clusters have
    it. Undefined below two clusters, and where more than 5 % of the resamples leave the strengths unidentified, since
    leaving so many out would flatter.
    """
    method = f"cluster bootstrap percentile, {resamples} resamples"
    if sum(multiplicity) < 2:
        return [Interval(None, None, level, method, "fewer than two clusters")] * competitors
    order = sorted(range(len(patterns)), key=lambda place: tuple(patterns[place]))
    features = np.array([patterns[place] for place in order], dtype=np.float64)
    counts = np.array([multiplicity[place] for place in order], dtype=np.int64)
    found: list[Floats] = []
    for totals in resampled_totals(features, counts, seed=seed, resamples=resamples):
        tables = totals.reshape(-1, competitors, competitors)
        found.append(_fitted(tables[_connected(tables)]))
    strengths = np.concatenate(found)
    if len(strengths) < (1 - _MAX_UNDEFINED_SHARE) * resamples:
        missing = resamples - len(strengths)
        reason = f"the strengths are not identified in {missing} of {resamples} resamples"
        return [Interval(None, None, level, method, reason)] * competitors
    ends = [percentile_ends(column, level) for column in strengths.T]
    return [Interval(low, high, level, method) for low, high in ends]


def _unidentified(table: Floats) -> str | None:
    """Say why there are no finite strengths, None where there are."""
    if bool(_connected(table[np.newaxis])[0]):
        return None
    met = table + table.T
    if not bool(_connected(met[np.newaxis])[0]):
        return "the competitors fall into groups that never met"
    if (table.sum(axis=0) == 0).any():
        return "a competitor never lost a point: its strength has no upper limit"
    if (table.sum(axis=1) == 0).any():
        return "a competitor never won a point: its strength has no lower limit"
    return "some competitors never lost a point to any of the others: the distance between the groups has no limit"


def _connected(tables: Floats) -> Bools:
    """Tell for each of the (B, K, K) tables whether a chain of wins leads from every competitor to every other."""
    size = tables.shape[-1]
    reach = (tables > 0) | np.eye(size, dtype=bool)
    span = 1
    while span < size:
        steps = reach.astype(np.float32)
        reach = steps @ steps > 0
        span *= 2
    return np.asarray(reach.all(axis=(1, 2)))


def _fitted(tables: Floats) -> Floats:
    """Maximise the concave likelihood of each (K, K) table by Newton's method, the first strength held at 0."""
    size = tables.shape[-1]
    games = tables + tables.transpose(0, 2, 1)
    won = tables.sum(axis=2)
    strengths = np.zeros((len(tables), size))
    for _ in range(_ROUNDS):
        chances = 1 / (1 + np.exp(strengths[:, np.newaxis, :] - strengths[:, :, np.newaxis]))
        gradient = won - (games * chances).sum(axis=2)
        weights = games * chances * (1 - chances)
        curvature = -weights
        diagonal = np.arange(size)
        curvature[:, diagonal, diagonal] += weights.sum(axis=2)
        step = np.zeros_like(strengths)
        step[:, 1:] = np.linalg.solve(curvature[:, 1:, 1:], gradient[:, 1:, np.newaxis])[..., 0]
        longest = np.abs(step).max(axis=1, initial=0.0)
        strengths += step * (_LONGEST_STEP / np.maximum(longest, _LONGEST_STEP))[:, np.newaxis]
        if longest.max(initial=0.0) < _CONVERGED:
            break
    return np.asarray(strengths - strengths.mean(axis=1, keepdims=True))
