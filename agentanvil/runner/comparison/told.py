"""What a comparison says of the two runs beside its figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from agentanvil.aggregate import Frame
from agentanvil.aggregate.comparison.tally import ComparedFigure, ComparedRun
from agentanvil.runner.comparison.like import trusted_recordings

# Below it, percentile intervals are known to be too narrow (Hesterberg 2015).
_FEW = 30


def compared_run(folder: Path, manifest: Mapping[str, Any]) -> ComparedRun:
    """Return what a report says of one run."""
    return ComparedRun(
        run=str(folder),
        fingerprint=manifest["fingerprint"],
        state=manifest["state"],
        rubric=manifest["rubric"]["id"],
        rubric_hash=manifest["rubric"]["hash"],
        data=manifest["data"]["file"],
        data_hash=manifest["data"]["hash"],
        judge=manifest["identity"]["judge"],
        repeats=manifest["plan"]["repeats"],
        items=manifest["plan"]["rows"],
    )


def only_in(mine: Frame, theirs: Frame) -> tuple[str, ...]:
    """Return the dimensions that the other run's rubric lacks."""
    known = {layout.id for layout in theirs.dimensions}
    return tuple(layout.id for layout in mine.dimensions if layout.id not in known)


def comparison_notes(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a person should know before believing the figures."""
    for name, run in (("A", a), ("B", b)):
        if run["state"] != "complete":
            yield f"{name} is not complete ({run['state']}): what it lacks counts as missing"
        if run["data"]["unread"]:
            yield f"{run['data']['unread']} record(s) of {name}'s data could not be read and are in no figure"
    if a["data"]["hash"] == b["data"]["hash"]:
        yield "both runs judged the same responses"
    if trusted_recordings(a, b):
        yield "the judges are two recordings: that they are of one judge is taken on trust"
    repeats = [run["plan"]["repeats"] for run in (a, b)]
    if repeats[0] != repeats[1]:
        yield f"A has {repeats[0]} repeat(s) an item, B has {repeats[1]}: a mean over fewer is noisier"
    dropped = [sorted(run["judge"].get("dropped", ())) for run in (a, b)]
    if dropped[0] != dropped[1]:
        named = " / ".join(", ".join(names) or "none" for names in dropped)
        yield f"parameters that the judge refused, as far as the runs noticed: {named}"


def figure_notes(figures: Sequence[ComparedFigure]) -> Iterator[str]:
    """Yield what the number of items makes of the figures."""
    fewest = min((figure.clusters for figure in figures if figure.tested), default=0)
    if fewest < _FEW:
        yield f"{fewest} paired item(s) are few: bootstrap intervals are too narrow below {_FEW}"
