"""What a person should know before believing a calibration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agentanvil.aggregate import CalibrationFigures, DimensionCalibration, LabelsUsed


def notes_of(
    manifest: Mapping[str, Any], labels: LabelsUsed, found: CalibrationFigures, *, bits: bool
) -> Iterator[str]:
    """Yield sentences, those about the whole run first. `bits`: a gate's labels are all the number 0 or 1."""
    if bits:
        yield "every label is 0 or 1, and was read as a score of the scale: for an answer write true or false"
    if manifest["state"] != "complete":
        yield "the run is not complete: verdicts that were never asked for count as missing"
    if labels.unknown:
        yield f"{labels.unknown} labelled item(s) of the file are not in the run, and were left out"
    if labels.replaced:
        yield f"the file takes the place of the labels in the rows: {labels.replaced} row(s) have labels of their own"
    if labels.blank:
        yield f"{labels.blank} line(s) of the file have no label yet"
    if labels.weighted:
        yield from _of_weights(found)
    unlabelled = [each.id for each in found.dimensions if not each.labelled]
    if unlabelled:
        yield f"nobody labelled {', '.join(unlabelled)}: nothing is known of the judge there"
    for each in (*found.dimensions, *([found.overall] if found.overall else [])):
        if each.labelled:
            yield from _of_dimension(each)


def _of_weights(found: CalibrationFigures) -> Iterator[str]:
    yield (
        "figures and verdicts count items by their sampling weights: they are of all items, from which the labelled "
        "ones were drawn"
    )
    if found.groups is not None:
        yield "what holds within groups is of the labelled items as they are, without their weights"


def _of_dimension(found: DimensionCalibration) -> Iterator[str]:
    if found.off_scale:
        yield (
            f"{found.id}: {found.off_scale} of {found.labels} label(s) are no category of the scale; kappa, agreement, "
            "nominal and ordinal alpha and the confusion leave them out"
        )
    if found.unweighted:
        yield f"{found.id}: {found.unweighted} labelled item(s) have no weight while others do, and were left out"
    missing = sum(found.missing.values())
    if missing:
        told = ", ".join(f"{state.replace('_', ' ')} {n}" for state, n in found.missing.items() if n)
        yield f"{found.id}: {missing} of {found.labelled} labelled item(s) have no verdict ({told})"
