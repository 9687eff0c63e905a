"""Frozen settings: the command line and `anvil.yaml`, already merged and checked, as the runner takes them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from agentanvil.aggregate import Reading
from agentanvil.client.prices import PriceTable
from agentanvil.errors import UsageError
from agentanvil.plan import FIRST_REPEATS, OrderMode
from agentanvil.rubric import CallMode, EvidenceMode, Mode
from agentanvil.runner.gate_settings import GateSettings
from agentanvil.runner.panel_settings import PanelSettings

Ways = CallMode | Literal["both"]
DEFAULT_CONCURRENCY = 16
DEFAULT_TIMEOUT_S = 120.0
DEFAULT_ATTEMPTS = 8
DEFAULT_SEED = 0
DEFAULT_MOST_REPEATS = 5
REPEATS_PATTERN = r"^auto(:(?P<most>[0-9]{1,9}))?$"
LOCAL_DEFAULTS: Mapping[str, Any] = {"concurrency": 8, "timeout": 900.0}
"""What a model on this machine's processors needs instead: each call in flight is a slot of the server."""


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    """Who judges, how it is asked, and within which limits.

    `temperature`, `max_tokens`, `seed` and `effort` are None unless the user set them: a refused default may be
    dropped, a refused wish may not. `api_key_command` prints the key of the first judge.
    `rpm` and `tpm` are per minute, `timeout` is seconds for one attempt in all,
    `max_cost` is US dollars. `cache` is None for the default place, `off`, or a path. `prices` are those of
    anvil.yaml.
    """

    judge: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    effort: str | None = None
    concurrency: int = DEFAULT_CONCURRENCY
    rpm: float | None = None
    tpm: float | None = None
    timeout: float = DEFAULT_TIMEOUT_S
    max_attempts: int = DEFAULT_ATTEMPTS
    max_calls: int | None = None
    max_cost: float | None = None
    cache: str | None = None
    api_key_env: str | None = None
    api_key_command: str | None = None
    allow_http: bool = False
    prices: PriceTable = field(default_factory=lambda: PriceTable({}))

    def __post_init__(self) -> None:
        """Raise UsageError for a number that cannot be meant."""
        _at_least("--concurrency", self.concurrency, 1)
        _at_least("--max-attempts", self.max_attempts, 1)
        _at_least("--max-calls", self.max_calls, 0)
        _at_least("--max-tokens", self.max_tokens, 1)
        _positive("--timeout", self.timeout)
        _positive("--rpm", self.rpm)
        _positive("--tpm", self.tpm)
        _at_least("--max-cost", self.max_cost, 0)
        _at_least("--temperature", self.temperature, 0)

    @property
    def seed_sent(self) -> int:
        """The seed of repeat 0."""
        return DEFAULT_SEED if self.seed is None else self.seed


@dataclass(frozen=True, slots=True)
class GradeSettings:
    """One `anvil grade`. `out` is None for the folder that follows from the settings.

    `mode`, `calls` and `evidence` are None for what the rubric says. `order` and `vs` (files with the other responses)
    belong to pairwise; `order` is None for `random` there. `reading` is what results are read from. `baseline` is the
    folder of an earlier run whose failures are known. With `adaptive`, `repeats` is the most that an item gets: the
    first two, and the others where these disagree. `defaults` names the settings that anvil.yaml gave: one that
    means nothing in the run's mode is passed over, where a flag is refused. `families` are anvil.yaml's: a model's
    name, or a pattern with `*`, and its family. `gate` is what anvil.yaml and flags say of it.
    """

    data: str
    rubric: str
    judge: JudgeSettings
    mode: Mode | None = None
    order: OrderMode | None = None
    vs: tuple[str, ...] = ()
    reading: Reading = "verdict"
    calls: Ways | None = None
    baseline: Path | None = None
    allow_code: bool = False
    evidence: EvidenceMode | None = None
    panel: PanelSettings = field(default_factory=PanelSettings)
    accept_self_judging: bool = False
    families: Mapping[str, str] = field(default_factory=dict)
    gate: GateSettings = field(default_factory=GateSettings)
    repeats: int = 1
    adaptive: bool = False
    out: Path | None = None
    mapping: tuple[str, ...] = ()
    limit: int | None = None
    min_coverage: float = 1.0
    dry_run: bool = False
    defaults: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        """Raise UsageError for a number or a word that cannot be meant."""
        _one_of("--mode", self.mode, get_args(Mode))
        _one_of("--order", self.order, get_args(OrderMode))
        _one_of("--evidence", self.evidence, get_args(EvidenceMode))
        _one_of("--reading", self.reading, get_args(Reading))
        _one_of("--calls", self.calls, (*get_args(CallMode), "both"))
        _at_least("--repeats", self.repeats, 1)
        _at_least("--limit", self.limit, 1)
        if self.adaptive:
            _at_least("--repeats auto:MAX", self.repeats, FIRST_REPEATS + 1)
        if self.adaptive and self.panel.escalate_to is not None:
            raise UsageError(
                "--repeats auto and --escalate-to exclude one another",
                hint="each asks more where first answers leave doubt: choose more of the same judge, or another one",
            )
        if not 0 <= self.min_coverage <= 1:
            raise UsageError(
                f"--min-coverage is a share between 0 and 1, not {self.min_coverage:g}",
                hint="1.0 asks for every verdict, 0.95 lets one in twenty be missing.",
            )


def parse_repeats(given: int | str) -> tuple[int, bool]:
    """Read how often each question is asked: a number, or `auto` or `auto:MAX`, and whether it is one of these.

    Raises UsageError.
    """
    found = re.fullmatch(REPEATS_PATTERN, str(given))
    if found is not None:
        return int(found["most"] or DEFAULT_MOST_REPEATS), True
    if not re.fullmatch(r"-?[0-9]{1,9}", str(given)):
        raise UsageError(
            f"--repeats is a number, auto or auto:MAX, not {str(given)!r}",
            hint=f"auto asks twice, and up to {DEFAULT_MOST_REPEATS} times where the two answers disagree.",
        )
    return int(given), False


def _one_of(flag: str, value: str | None, choices: tuple[str, ...]) -> None:
    if value is not None and value not in choices:
        raise UsageError(f"{flag} is one of {', '.join(choices)}, not {value!r}")


def _at_least(flag: str, value: float | None, least: float) -> None:
    if value is not None and not least <= value < float("inf"):
        raise UsageError(f"{flag} must be at least {least:g}, not {value:g}")


def _positive(flag: str, value: float | None) -> None:
    if value is not None and not 0 < value < float("inf"):
        raise UsageError(f"{flag} must be greater than 0, not {value:g}")
