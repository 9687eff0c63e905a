"""The terms of a gate that decides on figures of the whole run, and what they come to in a mode.

Thresholds say what an item must reach; terms say what the run must. Which figures are gated follows from both and from
the mode, here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from agentanvil.rubric.model import Rubric

DEFAULT_CONFIDENCE = 0.95
LEAST_CONFIDENCE, MOST_CONFIDENCE = 0.5, 0.999
FigureKind = Literal["pass_rate", "mean", "win_rate"]


@dataclass(frozen=True, slots=True)
class GateTerms:
    """What a gate asks of the run: `confidence` of the intervals, and the least value of each figure.

    `mean` holds thresholds on the rubric's scale, by dimension or `overall`; the others are shares. None, or no entry,
    is what nobody asked for.
    """

    confidence: float | None = None
    pass_rate: float | None = None
    mean: Mapping[str, float] = field(default_factory=dict)
    win_rate: float | None = None

    def __bool__(self) -> bool:
        return bool(self.mean) or any(term is not None for term in (self.confidence, self.pass_rate, self.win_rate))

    @property
    def level(self) -> float:
        """The confidence that is used."""
        return DEFAULT_CONFIDENCE if self.confidence is None else self.confidence

    def over(self, base: GateTerms) -> GateTerms:
        """Return `base` with each term that is set here in its place; `mean` is one term, whatever it names."""
        return GateTerms(
            base.confidence if self.confidence is None else self.confidence,
            base.pass_rate if self.pass_rate is None else self.pass_rate,
            self.mean or base.mean,
            base.win_rate if self.win_rate is None else self.win_rate,
        )


@dataclass(frozen=True, slots=True)
class GatedFigure:
    """A figure of the run and the least value with which it passes; `of` is what a mean is the mean of."""

    kind: FigureKind
    threshold: float
    of: str = ""

    @property
    def name(self) -> str:
        """Its name in reports, as a path into the gate."""
        return f"{self.kind}.{self.of}" if self.of else self.kind


@dataclass(frozen=True, slots=True)
class GateFault:
    """A gate that cannot be meant: the key under `gate` that is at fault (None for all of it), why, what to do."""

    key: str | None
    message: str
    hint: str


def gated_figures(rubric: Rubric) -> tuple[GatedFigure, ...]:
    """Return the figures that decide a run of this rubric in its mode; none where every item decides."""
    terms = rubric.terms
    if rubric.mode == "pairwise":
        return () if terms.win_rate is None else (GatedFigure("win_rate", terms.win_rate),)
    share = () if terms.pass_rate is None else (GatedFigure("pass_rate", terms.pass_rate),)
    if rubric.mode == "gate":
        return share
    means = terms.mean
    if not share and not means and terms.confidence is not None:
        means = rubric.gate
    return (*share, *(GatedFigure("mean", threshold, name) for name, threshold in means.items()))


def idle_terms(rubric: Rubric) -> tuple[str, ...]:
    """Return the figures that the terms name and the mode does not have, and the confidence where none decides."""
    terms = rubric.terms
    named = {"pass_rate": terms.pass_rate is not None, "mean": bool(terms.mean), "win_rate": terms.win_rate is not None}
    known = {"absolute": ("pass_rate", "mean"), "gate": ("pass_rate",), "pairwise": ("win_rate",)}[rubric.mode]
    sure = ("confidence",) if terms.confidence is not None and not gated_figures(rubric) else ()
    return (*sure, *(name for name, is_named in named.items() if is_named and name not in known))


def term_faults(terms: GateTerms) -> Iterator[GateFault]:
    """Yield the terms that cannot be meant under any rubric."""
    confidence = terms.confidence
    if confidence is not None and not LEAST_CONFIDENCE <= confidence <= MOST_CONFIDENCE:
        what = f"the confidence {confidence:g} is not between {LEAST_CONFIDENCE:g} and {MOST_CONFIDENCE:g}"
        yield GateFault("confidence", what, "0.95 is usual")
    for name, share in (("pass_rate", terms.pass_rate), ("win_rate", terms.win_rate)):
        if share is not None and not 0 < share <= 1:
            what = f"`{name}` is a share above 0 and up to 1, not {share:g}"
            yield GateFault(
                name, what, f"write {share / 100:g} for {share:g} %" if 1 < share <= 100 else "for example 0.9"
            )


def gate_faults(rubric: Rubric) -> Iterator[GateFault]:
    """Yield why the gate of this rubric, in its mode, would not decide what it seems to."""
    terms = rubric.terms
    if not terms:
        return
    if rubric.mode == "absolute":
        if terms.pass_rate is not None and not rubric.gate:
            yield GateFault(
                "pass_rate",
                "`pass_rate` is the share of items that meet the thresholds, and there are none",
                "say what an item must reach, for example `gate: {overall: 4, pass_rate: 0.9}`",
            )
        if terms.mean and rubric.gate and terms.pass_rate is None:
            unheld = ", ".join(rubric.gate)
            yield GateFault(
                "mean",
                f"beside `mean` the thresholds for items ({unheld}) would decide nothing",
                "add `pass_rate`, the share of items that must meet them, or move them under `mean`",
            )
    if not gated_figures(rubric):
        named = " and ".join(f"`{name}`" for name in idle_terms(rubric))
        yield GateFault(
            None, f"in the mode {rubric.mode} the gate's {named} would decide nothing", _WANTED[rubric.mode]
        )


def never_passing(rubric: Rubric) -> Iterator[GatedFigure]:
    """Yield the figures whose threshold is the highest value there is: no interval lies at it wholly."""
    for figure in gated_figures(rubric):
        if figure.threshold >= (rubric.scale.max if figure.kind == "mean" else 1):
            yield figure


_WANTED = {
    "absolute": "name thresholds, `mean` or `pass_rate`, for example `gate: {overall: 4, confidence: 0.95}`",
    "gate": "say which share of the items must pass, for example `gate: {overall: 4, pass_rate: 0.9}`",
    "pairwise": "say what response_a must reach, for example `gate: {win_rate: 0.5, confidence: 0.95}`",
}
