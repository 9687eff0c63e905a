"""Random draws of judge and people whose truth is known: what intervals are held against.

The scenarios' numbers are those of the coverage table that came with the published vectors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Scores:
    """Scores 1..5: how often people give each, and what the judge adds to them before it rounds."""

    shares: tuple[float, ...]
    bias: float
    noise: float

    @property
    def truth(self) -> float:
        return sum(share * score for score, share in enumerate(self.shares, 1))

    def draw(self, rows: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Return people's scores and the judge's."""
        human = rng.choice(np.arange(1.0, 6.0), size=rows, p=self.shares)
        judge = np.clip(np.rint(human + self.bias + rng.normal(0, self.noise, rows)), 1, 5)
        return human, judge


@dataclass(frozen=True)
class Passes:
    """Passes and fails: how many pass by people, of all rows and of the labelled, and how often the judge sees it."""

    rate: float
    tpr: float
    tnr: float
    labelled: float

    def draw(self, rows: int, rng: np.random.Generator, *, labelled: bool = False) -> tuple[Floats, Floats]:
        """Return people's passes and the judge's, 0 or 1."""
        human = rng.random(rows) < (self.labelled if labelled else self.rate)
        judge = rng.random(rows) < np.where(human, self.tpr, 1 - self.tnr)
        return human.astype(np.float64), judge.astype(np.float64)


SCORES = {
    "good": Scores((0.05, 0.10, 0.20, 0.35, 0.30), 0.3, 0.7),
    "weak": Scores((0.05, 0.10, 0.20, 0.35, 0.30), -0.5, 1.8),
    "ceiling": Scores((0.01, 0.02, 0.04, 0.13, 0.80), 0.2, 0.8),
}
PASSES = {
    "typical": Passes(0.70, 0.90, 0.85, 0.70),
    "high": Passes(0.95, 0.95, 0.75, 0.95),
    "weak": Passes(0.60, 0.75, 0.65, 0.60),
    "shift": Passes(0.80, 0.90, 0.85, 0.50),
}
