"""Several judges' verdicts on one task → the jury's."""

from __future__ import annotations

from typing import Literal

JuryRule = Literal["median", "mean", "min", "majority"]
"""How the verdicts of a jury become one."""
