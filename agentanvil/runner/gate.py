"""The run's gate: what it decides is settled before a call is made; how far its judge can be relied on, afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from agentanvil.aggregate import GateCircumstances
from agentanvil.errors import ConfigError, InputError, RubricError, UsageError
from agentanvil.rubric import OVERALL, GateFault, GateTerms, Mode, Rubric, gate_faults, gated_figures
from agentanvil.rubric.yaml_text import read_yaml
from agentanvil.runner.calibration.file import CALIBRATION, Calibration, Instrument, read_calibration
from agentanvil.runner.gate_settings import GateSettings
from agentanvil.runner.kinship import judges_gate

UNCALIBRATED = "the gate's judge is uncalibrated"


def with_gate(rubric: Rubric, settings: GateSettings) -> Rubric:
    """Return the rubric with the terms of the settings in the place of its own; its hash stays that of the file."""
    return replace(rubric, terms=settings.terms.over(rubric.terms)) if settings.terms else rubric


def settled_gate(rubric: Rubric, settings: GateSettings, written_for: Mode) -> GateSettings:
    """Return the settings as far as they mean something under a rubric in the mode of the run.

    A confidence or a calibration that anvil.yaml holds ready for every rubric means nothing where nothing is gated;
    nor do a rubric's own terms, in another mode than the one that it is written for, where they decide nothing.
    Raises ConfigError, UsageError or RubricError for a gate that would not decide what it names, and ConfigError
    for a calibration file that is damaged; one that does not exist yet only makes the judge uncalibrated.
    """
    _refuse_strange_means(rubric, settings)
    terms = settings.terms
    alone = "confidence" in settings.places and terms == GateTerms(terms.confidence)
    alone = alone and (not rubric.terms or rubric.mode != written_for)
    if alone and not gated_figures(with_gate(rubric, settings)):
        settings = replace(settings, terms=GateTerms())
    gated = with_gate(rubric, settings)
    for fault in gate_faults(gated) if settings.terms or rubric.mode == written_for else ():
        raise _refusal(fault, rubric, settings)
    if settings.calibration is None:
        return settings
    if not judges_gate(gated):
        if "calibration" not in settings.places:
            raise UsageError(
                "--calibration tells how far a judge can be relied on, but no judge decides a gate here",
                hint="Give the rubric a `gate:`, or leave the flag out.",
            )
        return replace(settings, calibration=None)
    if Path(settings.calibration).exists():
        read_calibration(Path(settings.calibration))
    return settings


def refuse_baseline(baseline: object, rubric: Rubric) -> None:
    """Raise UsageError for a baseline, which forgives single items, beside a gate that no single item fails."""
    if baseline is not None and gated_figures(rubric):
        raise UsageError(
            "--baseline forgives single items, but this gate decides on figures of the whole run",
            hint="`anvil compare` tells whether a run is worse than another; without a confidence every item decides.",
        )


def circumstances(folder: Path, manifest: Mapping[str, Any], rubric: Rubric) -> GateCircumstances:
    """Return what the gate of a run must know beside its items.

    Where no calibration is required, the one that lies in the run folder tells of the judge. Raises ConfigError for a
    required file that is damaged.
    """
    unread, required = int(manifest["data"]["unread"]), GateSettings.of_manifest(manifest).calibration
    if not judges_gate(rubric):
        return GateCircumstances(unread)
    if required is not None:
        return GateCircumstances(unread, True, tuple(_doubts(Path(required), manifest, rubric)))
    own = folder / CALIBRATION
    if not own.exists():
        return GateCircumstances(unread, False, (f"{UNCALIBRATED}: nothing tells how far it agrees with people",))
    try:
        return GateCircumstances(unread, False, tuple(_doubts(own, manifest, rubric)))
    except ConfigError as error:
        return GateCircumstances(unread, False, (f"{UNCALIBRATED}: {own} {error.message}",))


def _doubts(path: Path, manifest: Mapping[str, Any], rubric: Rubric) -> Iterator[str]:
    """Yield why the judge cannot be relied on in what the gate decides, nothing where it can."""
    if not path.exists():
        yield f"{UNCALIBRATED}: {path} does not exist"
        return
    calibration = read_calibration(path)
    differences = calibration.instrument.differences(Instrument.of(manifest))
    if differences:
        yield f"{UNCALIBRATED}: {path} is about another instrument ({'; '.join(differences)})"
        return
    for name in _relied_on(rubric, calibration):
        yield from _doubt(name, calibration, path)


def _doubt(name: str, calibration: Calibration, path: Path) -> Iterator[str]:
    found = calibration.dimensions.get(name)
    if found is None or found.verdict is None:
        yield f"{UNCALIBRATED}: {path} has no verdict on {name}"
    elif found.verdict != "TRUSTED":
        span = "" if found.low is None or found.high is None else f" [{found.low:.3g}, {found.high:.3g}]"
        kappa = "kappa is undefined" if found.kappa is None else f"kappa {found.kappa:.3g}{span}"
        yield (
            f"the gate's judge is {found.verdict} on {name} by {path}: "
            f"{kappa} against {calibration.min_kappa:g}, {found.n} labelled item(s)"
        )


def _relied_on(rubric: Rubric, calibration: Calibration) -> list[str]:
    """Return what the judge must be trusted on: the overall has an agreement of its own, else what it is made of."""
    judged = [dimension.id for dimension in rubric.judged]
    figures = gated_figures(rubric)
    if rubric.mode != "absolute":
        names = {OVERALL}
    else:
        by_items = not figures or any(figure.kind == "pass_rate" for figure in figures)
        names = {figure.of for figure in figures} | ({*rubric.gate} if by_items else set())
    if OVERALL in names and calibration.verdict(OVERALL) is None:
        weights = rubric.overall.weights
        names |= {name for name in judged if rubric.overall.rule == "min" or weights.get(name)}
        names -= {OVERALL}
    return [name for name in (OVERALL, *judged) if name in names]


def _refuse_strange_means(rubric: Rubric, settings: GateSettings) -> None:
    names = [OVERALL, *(dimension.id for dimension in rubric.dimensions)]
    low, high = rubric.scale.min, rubric.scale.max
    for name, threshold in settings.terms.mean.items():
        place = settings.places.get(f"mean.{name}")
        if name not in names:
            close = get_close_matches(name.lower(), names, n=1)
            hint = f"Did you mean `{close[0]}`?" if close else f"The rubric {rubric.id} has: {', '.join(names)}."
            raise ConfigError(f"there is no dimension `{name}` in the rubric {rubric.id}", where=place, hint=hint)
        if not low <= threshold <= high:
            raise ConfigError(f"the threshold {threshold:g} is not on the rubric's scale {low} to {high}", where=place)


def _refusal(fault: GateFault, rubric: Rubric, settings: GateSettings) -> InputError:
    """Return the error that names the place at fault: the flag, the key of anvil.yaml, or that of the rubric."""
    places = {key: place for key, place in settings.places.items() if key != "calibration"}
    place = places.get(fault.key) if fault.key is not None else next(iter(places.values()), None)
    if place is not None:
        return ConfigError(fault.message, where=place, hint=fault.hint)
    if settings.terms.confidence is not None and fault.key is None:
        return UsageError(f"--confidence: {fault.message}", hint=fault.hint)
    where = read_yaml(rubric.text, rubric.file).where(("gate", *filter(None, [fault.key])))
    return RubricError(fault.message, where=where, hint=fault.hint)
