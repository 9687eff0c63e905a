"""`calibration.json`, read again: what it says of a judge, and of which instrument it says it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from agentanvil.aggregate import Trust
from agentanvil.errors import ConfigError, Where
from agentanvil.rubric import OVERALL
from agentanvil.strict_json import JsonError, parse_json

CALIBRATION = "calibration.json"
CALIBRATION_FORMAT = 1

_HINT = "name the calibration.json that `anvil calibrate` wrote"


@dataclass(frozen=True, slots=True)
class Instrument:
    """What was measured: another of any of these is another instrument, whose agreement nobody has measured."""

    rubric_hash: str
    judge: str
    prompt_version: str
    mode: str
    evidence: str
    reading: str

    @classmethod
    def of(cls, manifest: Mapping[str, Any]) -> Instrument:
        """Return the instrument that a run was made with."""
        identity = manifest["identity"]
        return cls(
            rubric_hash=identity["rubric"],
            judge=identity["judge"],
            prompt_version=identity["prompt"],
            mode=identity["mode"],
            evidence=identity["evidence"],
            reading=manifest["plan"]["reading"],
        )

    def differences(self, other: Instrument) -> tuple[str, ...]:
        """Return what tells this instrument from another: `judge is a, there it is b`, one text a difference."""
        names = self.__dataclass_fields__
        pairs = [(name.replace("_", " "), getattr(self, name), getattr(other, name)) for name in names]
        return tuple(f"{name} is {mine}, there it is {theirs}" for name, mine, theirs in pairs if mine != theirs)


@dataclass(frozen=True, slots=True)
class DimensionTrust:
    """One dimension, or the overall. `verdict` is None where nobody labelled it: then nothing is known of it.

    `kappa`, `low` and `high` are None where they are undefined. `n` counts the items that were compared.
    """

    id: str
    verdict: Trust | None
    n: int
    kappa: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Calibration:
    """One calibration file. `dimensions` holds the rubric's dimensions by id and, as `overall`, the overall."""

    rubric_id: str
    instrument: Instrument
    min_kappa: float
    level: float
    items: int
    dimensions: Mapping[str, DimensionTrust]

    def verdict(self, name: str) -> Trust | None:
        """Return the verdict on a dimension or the overall, None where the file has none."""
        found = self.dimensions.get(name)
        return None if found is None else found.verdict


class _IntervalWire(BaseModel):
    model_config = ConfigDict(strict=True)
    low: float | None
    high: float | None


class _KappaWire(BaseModel):
    model_config = ConfigDict(strict=True)
    value: float | None
    n: int
    interval: _IntervalWire


class _DimensionWire(BaseModel):
    model_config = ConfigDict(strict=True)
    id: str
    verdict: Trust | None
    kappa: _KappaWire


class _FileWire(BaseModel):
    model_config = ConfigDict(strict=True)
    format: int
    rubric_id: str
    rubric_hash: str
    judge: str
    prompt_version: str
    mode: str
    evidence: str
    reading: str
    min_kappa: float
    level: float
    items: int
    dimensions: list[_DimensionWire]
    overall: _DimensionWire | None


def read_calibration(path: Path) -> Calibration:
    """Return what a calibration file says.

    Raises ConfigError, naming the file, where it cannot be read or is no calibration file of this format.
    """
    where = Where(str(path))
    try:
        value = parse_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot be opened: {error.strerror}", where=where, hint=_HINT) from None
    except (UnicodeDecodeError, JsonError) as error:
        raise ConfigError(f"is not JSON: {error}", where=where, hint=_HINT) from None
    known = value.get("format") if isinstance(value, dict) else None
    if known != CALIBRATION_FORMAT:
        told = "has no format" if known is None else f"has the format {known!r}"
        raise ConfigError(f"{told}; this version reads format {CALIBRATION_FORMAT}", where=where, hint=_HINT)
    try:
        wire = _FileWire.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ConfigError(first["msg"], where=Where(str(path), key=place), hint=_HINT) from None
    return _calibration(wire)


def _calibration(wire: _FileWire) -> Calibration:
    overall = [] if wire.overall is None else [(OVERALL, wire.overall)]
    return Calibration(
        rubric_id=wire.rubric_id,
        instrument=Instrument(
            wire.rubric_hash, wire.judge, wire.prompt_version, wire.mode, wire.evidence, wire.reading
        ),
        min_kappa=wire.min_kappa,
        level=wire.level,
        items=wire.items,
        dimensions={
            name: DimensionTrust(
                found.id, found.verdict, found.kappa.n, found.kappa.value, found.kappa.interval.low,
                found.kappa.interval.high,
            )
            for name, found in [*((each.id, each) for each in wire.dimensions), *overall]
        },
    )  # fmt: skip
