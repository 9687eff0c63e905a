"""Sums of items' features → the components of variance and what they come to, many sums at a time.

The formulas are those of `nested`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from agentanvil.stats.nested_features import (
    DUST,
    ERROR,
    JUDGE,
    MEAN,
    ORDER,
    READINGS,
    REPEAT,
    SEEN,
    SQUARE,
    Floats,
    N,
)

Source = Literal["item", "judge", "order", "repeat"]
SOURCES: tuple[Source, ...] = ("item", "judge", "order", "repeat")


@dataclass(frozen=True, slots=True)
class Seen:
    """In how many items each source is told apart, and of how many readings; 0 where the readings do not tell it."""

    item: int
    judge: int
    order: int
    repeat: int
    readings: int

    @classmethod
    def of(cls, total: Floats) -> Seen:
        judge, order, repeat = (round(float(n)) for n in total[SEEN])
        items = round(float(total[N]))
        # One item has no variance between items; read once each, items are not told from their readings.
        told = items if items > 1 and judge + order + repeat else 0
        return cls(told, judge, order, repeat, round(float(total[READINGS])))

    def count(self, source: Source) -> int:
        return {"item": self.item, "judge": self.judge, "order": self.order, "repeat": self.repeat}[source]


# Columns of what is figured out for each row of totals.
RAW, CUT, SHARE = slice(0, 4), slice(4, 8), slice(8, 12)
ICC_SINGLE, ICC_MEAN, SD_SINGLE, SD_MEAN = 12, 13, 14, 15


def figured(totals: Floats, seen: Seen) -> Floats:
    """Return (B, 16) figures of (B, F) totals in units of the span, NaN where they are undefined."""
    n = np.where(totals[:, N] > 0, totals[:, N], np.nan)
    ss_repeat, free_repeat = totals[:, REPEAT].T
    repeat = _solved(ss_repeat, free_repeat, seen.repeat)
    ss_order, free_order, order_repeat = totals[:, ORDER].T
    order = _solved(ss_order - order_repeat * repeat, free_order, seen.order)
    ss_judge, free_judge, judge_order, judge_repeat = totals[:, JUDGE].T
    judge = _solved(ss_judge - judge_order * order - judge_repeat * repeat, free_judge, seen.judge)
    weights = totals[:, ERROR] / n[:, np.newaxis]
    below = np.stack([judge, order, repeat], axis=-1)
    squares = totals[:, SQUARE] - totals[:, MEAN] ** 2 / n
    means = np.where(n > 1, squares / np.where(n > 1, n - 1, 1.0), np.nan)
    means = np.where(means < DUST, np.where(np.isnan(means), np.nan, 0.0), means)
    item = means - (weights * below).sum(axis=-1)
    raw = np.concatenate([item[:, np.newaxis], below], axis=-1)
    cut = np.maximum(raw, 0.0)
    total, whole = raw.sum(axis=-1), cut.sum(axis=-1)
    sd_single = np.sqrt(cut[:, 1:].sum(axis=-1))
    sd_mean = np.sqrt((weights * cut[:, 1:]).sum(axis=-1))
    shares = cut / _above_dust(whole)[:, np.newaxis]
    last = [item / _above_dust(total), item / _above_dust(means), sd_single, sd_mean]
    return np.concatenate([raw, cut, shares, np.stack(last, axis=-1)], axis=-1)


def _solved(rest: Floats, freedom: Floats, seen: int) -> Floats:
    """Return a component from its sum of squares less the other components' part; 0 where it is not told apart."""
    if not seen:
        return np.zeros_like(rest)
    return np.where(freedom > 0, rest / np.where(freedom > 0, freedom, 1.0), np.nan)


def _above_dust(values: Floats) -> Floats:
    return np.where(values > DUST, values, np.nan)
