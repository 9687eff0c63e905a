"""Whether a judge may be trusted on a dimension: by the interval of kappa, never by its point."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from agentanvil.aggregate.measured import Measured
from agentanvil.aggregate.wording import telling

Trust = Literal["TRUSTED", "UNTRUSTED", "INCONCLUSIVE"]

# Nearer than this to the bar, kappa sits on it.
_ON_THE_BAR = 1e-6


@dataclass(frozen=True, slots=True)
class Further:
    """How many more labelled items would decide an inconclusive verdict.

    By the width of kappa's interval, which shrinks with the square root of the items, at the kappa found so far.
    `items` is None exactly when `reason` says why no number would, or can be told.
    """

    items: int | None
    reason: str | None


def trust_of(kappa: Measured, bar: float) -> tuple[Trust, str, Further | None]:
    """Return the verdict, a sentence that says why, and what would decide an inconclusive one.

    TRUSTED where the whole interval is at or above the bar, UNTRUSTED where the whole of it is below.
    """
    interval = kappa.interval
    if kappa.value is None or interval.low is None or interval.high is None:
        return "INCONCLUSIVE", f"kappa cannot be told: {kappa.reason or interval.reason}", _undefined(kappa)
    span = f"kappa {telling(kappa.value, bar)} [{telling(interval.low, bar)}, {telling(interval.high, bar)}]"
    if interval.low >= bar:
        return "TRUSTED", f"{span} reaches {bar:g}", None
    if interval.high < bar:
        return "UNTRUSTED", f"{span} is below {bar:g}", None
    return "INCONCLUSIVE", f"{span} straddles {bar:g}", further_labels(kappa, bar)


def further_labels(kappa: Measured, bar: float) -> Further:
    """Return how many more labelled items bring the near end of the interval to the bar, if kappa stays as it is.

    Half-widths are taken to shrink with 1 / √n: where the one towards the bar is h and the bar lies d away, n items
    have to become n · (h / d)².
    """
    low, high = kappa.interval.low, kappa.interval.high
    if kappa.value is None or low is None or high is None:
        return _undefined(kappa)
    away = kappa.value - bar
    if abs(away) < _ON_THE_BAR:
        return Further(None, "kappa lies on the threshold itself: no number of labels would tell on which side")
    half = kappa.value - low if away > 0 else high - kappa.value
    if half <= 0:
        return Further(None, "the interval has no width on the side of the threshold to project from")
    needed = math.ceil(round(kappa.n * (half / away) ** 2, 6))  # rounding dust is no item
    return Further(max(1, needed - kappa.n), None)


def _undefined(kappa: Measured) -> Further:
    if kappa.n == 0:
        return Further(None, "no item has both a verdict and a label on the scale: there is no width to project from")
    return Further(None, "without an interval there is no width to project from: label items that people grade apart")
