"""The gate as `anvil.yaml` and flags have it, over that of the rubric: what is asked of the run and of its judge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ConfigDict

from agentanvil.errors import ConfigError, UsageError, Where
from agentanvil.rubric import GateTerms, term_faults
from agentanvil.rubric.yaml_text import YamlText


@dataclass(frozen=True, slots=True)
class GateSettings:
    """`calibration` names the file by which the judge must be trusted, None where nothing is asked of it.

    Each of `terms` takes the place of the rubric's. `places` tells where anvil.yaml sets what it sets, by the key under
    `gate`; what is in none of them came from a flag.
    """

    calibration: str | None = None
    terms: GateTerms = field(default_factory=GateTerms)
    places: Mapping[str, Where] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return them as JSON data, which `of_dict` reads."""
        terms = self.terms
        return {
            "calibration": self.calibration,
            "confidence": terms.confidence,
            "pass_rate": terms.pass_rate,
            "mean": dict(terms.mean),
            "win_rate": terms.win_rate,
        }

    @classmethod
    def of_manifest(cls, manifest: Mapping[str, Any]) -> GateSettings:
        """Return what a run was made with; runs from before gates had terms keep nothing of the kind."""
        kept = manifest["plan"].get("gate")
        return cls() if kept is None else cls.of_dict(kept)

    @classmethod
    def of_dict(cls, kept: Mapping[str, Any]) -> GateSettings:
        """Return what `as_dict` gave; where anvil.yaml said it is not known any more."""
        terms = GateTerms(kept["confidence"], kept["pass_rate"], kept["mean"], kept["win_rate"])
        return cls(kept["calibration"], terms)


@dataclass(frozen=True, slots=True)
class GateFlags:
    """What `--calibration` and `--confidence` say, None where they were not given."""

    calibration: str | None = None
    confidence: float | None = None

    def __bool__(self) -> bool:
        return self.calibration is not None or self.confidence is not None

    def over(self, base: GateSettings) -> GateSettings:
        """Return the settings with what the flags say in its place. Raises UsageError."""
        for fault in term_faults(GateTerms(self.confidence)):
            raise UsageError(f"--confidence: {fault.message}", hint=fault.hint)
        given = {"calibration": self.calibration, "confidence": self.confidence}
        return GateSettings(
            base.calibration if self.calibration is None else self.calibration,
            GateTerms(self.confidence).over(base.terms),
            {key: place for key, place in base.places.items() if given.get(key) is None},
        )


class GateConfigWire(BaseModel):
    """What `gate:` of anvil.yaml may hold."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)
    calibration: str | None = None
    confidence: float | None = None
    pass_rate: float | None = None
    mean: dict[str, float] | None = None
    win_rate: float | None = None

    def settings(self, document: YamlText) -> GateSettings:
        """Return the settings. Raises ConfigError naming line and key for what cannot be meant."""
        empty = [name for name in self.model_fields_set if getattr(self, name) in (None, {}, "")]
        for name in empty:
            raise ConfigError("this is empty", where=document.where(("gate", name)), hint="Write a value, or no key.")
        terms = GateTerms(self.confidence, self.pass_rate, self.mean or {}, self.win_rate)
        for fault in term_faults(terms):
            raise ConfigError(fault.message, where=document.where(("gate", fault.key or "")), hint=fault.hint)
        places = {name: document.where(("gate", name)) for name in self.model_fields_set}
        places |= {f"mean.{name}": document.where(("gate", "mean", name)) for name in terms.mean}
        return GateSettings(self.calibration, terms, places)
