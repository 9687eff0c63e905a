"""`anvil.yaml` in the working folder: defaults for the flags, so that a CI line stays short. A flag beats it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agentanvil.client.prices import PriceTable
from agentanvil.errors import ConfigError, RubricError, UsageError, Where
from agentanvil.rubric.yaml_text import YamlText, read_yaml
from agentanvil.runner.gate_settings import GateConfigWire, GateFlags, GateSettings
from agentanvil.runner.panel_settings import PanelSettings
from agentanvil.runner.settings import (
    LOCAL_DEFAULTS,
    REPEATS_PATTERN,
    GradeSettings,
    JudgeSettings,
    parse_repeats,
)

CONFIG_FILE = "anvil.yaml"
_OF_THE_RUN = {
    *("rubric", "mode", "order", "reading", "calls", "evidence", "baseline", "allow_code", "accept_self_judging"),
    *("repeats", "out", "limit", "min_coverage", "dry_run"),
}


class ConfigWire(BaseModel):
    """What `anvil.yaml` may hold: the long flags with underscores, `map`, `prices` and `families`."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)
    rubric: str | None = None
    judge: str | list[str] | None = None
    jury: str | None = None
    quorum: int | None = None
    cross_judge: str | None = None
    cross_sample: float | None = None
    escalate_to: str | None = None
    escalate_when: str | None = None
    escalate_share: float | None = None
    escalate_max_cost: float | None = None
    accept_self_judging: bool | None = None
    mode: str | None = None
    order: str | None = None
    reading: str | None = None
    calls: str | None = None
    evidence: str | None = None
    baseline: str | None = None
    repeats: int | Annotated[str, Field(pattern=REPEATS_PATTERN)] | None = None
    limit: int | None = None
    out: str | None = None
    min_coverage: float | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    effort: str | None = None
    concurrency: int | None = None
    rpm: float | None = None
    tpm: float | None = None
    timeout: float | None = None
    max_attempts: int | None = None
    max_calls: int | None = None
    max_cost: float | None = None
    cache: str | None = None
    api_key_env: str | None = None
    api_key_command: str | None = None
    allow_http: bool | None = None
    map: dict[str, str] = Field(default_factory=dict)
    prices: dict[str, Any] = Field(default_factory=dict)
    families: dict[str, str] = Field(default_factory=dict)
    gate: GateConfigWire | None = None


@dataclass(frozen=True, slots=True)
class Config:
    """Values that the file sets, by flag name with underscores; what is no flag stands apart."""

    values: Mapping[str, Any] = field(default_factory=dict)
    mapping: tuple[str, ...] = ()
    prices: PriceTable = field(default_factory=lambda: PriceTable({}))
    families: Mapping[str, str] = field(default_factory=dict)
    gate: GateSettings = field(default_factory=GateSettings)


def load_config(path: Path | None = None) -> Config:
    """Read `anvil.yaml`, or nothing where it does not exist. Raises ConfigError naming line and key."""
    file = path or Path(CONFIG_FILE)
    try:
        text = file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        if path is not None:
            raise ConfigError("no such file", where=Where(str(path))) from None
        return Config()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot be read as UTF-8 text: {error}", where=Where(str(file))) from None
    if all(line.startswith("#") or line in {"", "---"} for line in map(str.strip, text.splitlines())):
        return Config()
    return _checked(_read(text, str(file)))


def _read(text: str, file: str) -> YamlText:
    try:
        return read_yaml(text, file)
    except RubricError as error:
        raise ConfigError(error.message, where=error.where, hint=error.hint) from None


def _checked(document: YamlText) -> Config:
    if document.data is None:
        return Config()
    try:
        wire = ConfigWire.model_validate(document.data)
    except ValidationError as error:
        raise _config_error(error, document) from None
    values = {
        name: value
        for name in ConfigWire.model_fields
        if name not in {"map", "prices", "families", "gate"} and (value := getattr(wire, name)) is not None
    }
    mapping = tuple(f"{target}={source}" for target, source in wire.map.items())
    gate = GateSettings() if wire.gate is None else wire.gate.settings(document)
    return Config(values, mapping, PriceTable.read(wire.prices, document.file), wire.families, gate)


def _config_error(error: ValidationError, document: YamlText) -> ConfigError:
    first = error.errors(include_url=False)[0]
    path = first["loc"]
    if first["type"] == "extra_forbidden":
        key = str(path[-1])
        known = GateConfigWire.model_fields if path[0] == "gate" and len(path) > 1 else ConfigWire.model_fields
        close = get_close_matches(key, known, n=1)
        hint = f"Did you mean `{close[0]}`?" if close else f"The keys are: {', '.join(known)}."
        return ConfigError(f"unknown key `{key}`", where=document.where(path), hint=hint)
    return ConfigError(first["msg"], where=document.where(path))


def judge_settings(flags: Mapping[str, Any], config: Config) -> JudgeSettings:
    """Merge flags (None = not given) over the file over the defaults. Raises UsageError or ConfigError."""
    names = {f.name for f in fields(JudgeSettings)} - {"prices"}
    chosen = _chosen(names, flags, config)
    chosen["judge"] = next(iter(_judges(flags, config)), None)
    if str(chosen["judge"]).partition(":")[0] == "local":
        chosen = {**LOCAL_DEFAULTS, **chosen}
    return replace(JudgeSettings(), **chosen, prices=config.prices)


def grade_settings(data: str, flags: Mapping[str, Any], config: Config) -> GradeSettings:
    """Merge everything that one `anvil grade` needs. Raises UsageError or ConfigError."""
    chosen = _chosen(_OF_THE_RUN, flags, config)
    rubric = chosen.pop("rubric", None)
    if rubric is None:
        raise UsageError("no rubric given", hint=f"Give --rubric FILE, or set `rubric:` in {CONFIG_FILE}.")
    for name in ("out", "baseline"):
        if name in chosen:
            chosen[name] = Path(chosen[name])
    repeats, adaptive = parse_repeats(chosen.pop("repeats", 1))
    return GradeSettings(
        data=data,
        rubric=str(rubric),
        judge=judge_settings(flags, config),
        mapping=tuple(flags.get("map") or config.mapping),
        vs=tuple(flags.get("vs") or ()),
        panel=_panel(flags, config),
        families=config.families,
        repeats=repeats,
        adaptive=adaptive,
        gate=_gate_flags(flags).over(config.gate),
        defaults=frozenset(name for name in chosen if flags.get(name) is None),
        **chosen,
    )


def _gate_flags(flags: Mapping[str, Any]) -> GateFlags:
    calibration = flags.get("calibration")
    return GateFlags(None if calibration is None else str(calibration), flags.get("confidence"))


def _judges(flags: Mapping[str, Any], config: Config) -> tuple[str, ...]:
    """Return every judge that `--judge` names, else every one of the file."""
    given = flags.get("judge") or config.values.get("judge") or ()
    return (given,) if isinstance(given, str) else tuple(given)


def _panel(flags: Mapping[str, Any], config: Config) -> PanelSettings:
    names = {f.name for f in fields(PanelSettings)} - {"jury", "jury_rule"}
    rule = _chosen({"jury"}, flags, config).get("jury")
    return PanelSettings(jury=_judges(flags, config)[1:], jury_rule=rule, **_chosen(names, flags, config))


def _chosen(names: set[str], flags: Mapping[str, Any], config: Config) -> dict[str, Any]:
    merged = {name: flags.get(name) if flags.get(name) is not None else config.values.get(name) for name in names}
    return {name: value for name, value in merged.items() if value is not None}
