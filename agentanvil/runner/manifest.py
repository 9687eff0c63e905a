"""The manifest: which run this is, with what it was made, and what each sitting of it cost."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from agentanvil import __version__
from agentanvil.runner.folder import FORMAT
from agentanvil.runner.job import Job
from agentanvil.runner.pricing import judge_price, price_entry
from agentanvil.runner.session import SessionEnd
from agentanvil.runner.settings import JudgeSettings
from agentanvil.runner.stack import JudgeFacts

_LEARNT = ("rung", "dropped", "cap_field")
_KEPT = ("rescored_from",)
_LIBRARIES = ("aiohttp", "genai-prices", "httpx", "numpy", "pydantic")


def open_manifest(job: Job, before: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the manifest of a run that is about to begin, or to go on where the manifest `before` left it."""
    before = before or {}
    settings = job.settings
    judges = _judges(job, before.get("judges", ()))
    return {
        "format": FORMAT,
        "anvil": __version__,
        "state": "running",
        "created": before.get("created") or _stamp(datetime.now(UTC)),
        "fingerprint": job.fingerprint,
        "identity": job.identity.as_dict(),
        "rubric": {
            "id": job.rubric.id,
            "file": settings.rubric,
            "hash": job.rubric.hash,
            "text": job.rubric.text,
        },
        "data": {
            "file": settings.data,
            "name": job.info.name,
            "hash": job.info.hash,
            "rows": job.info.rows,
            "map": list(settings.mapping),
            "hidden_fields": list(job.info.hidden_fields),
            "flagged": dict(job.info.flagged),
            "vs": list(settings.vs),
            "unread": job.info.unread,
            "unread_examples": list(job.info.unread_examples),
        },
        "plan": {
            "mode": job.rubric.mode,
            "evidence": job.rubric.evidence,
            "order": job.plan.orders,
            "reading": settings.reading,
            "rows": job.rows,
            "repeats": settings.repeats,
            "adaptive": settings.adaptive,
            "ways": settings.calls,
            "calls": [call.name for call in job.plan.calls],
            "baseline": None if settings.baseline is None else str(settings.baseline),
            "gate": settings.gate.as_dict(),
            "min_coverage": settings.min_coverage,
            "jury_rule": settings.panel.jury_rule,
            "quorum": settings.panel.quorum,
            "escalate_when": None if job.panel.condition is None else str(job.panel.condition),
            "escalate_max_cost": settings.panel.escalate_max_cost,
        },
        "judge": {"name": job.plan.judge, "parameters": _parameters(settings.judge), **_of_first(judges)},
        "judges": judges,
        "kinship": {
            **job.kinship.as_dict(),
            "given": dict(settings.families),
            "accept_self_judging": settings.accept_self_judging,
        },
        "versions": {"python": platform.python_version(), **{name: version(name) for name in _LIBRARIES}},
        "sessions": before.get("sessions", []),
        **{key: before[key] for key in _KEPT if key in before},
    }


def with_session(manifest: Mapping[str, Any], end: SessionEnd, started: datetime) -> dict[str, Any]:
    """Return the manifest with one more sitting, and what it learnt about the judges."""
    tally = end.tally
    session = {
        "started": _stamp(started),
        "ended": _stamp(datetime.now(UTC)),
        "ending": end.ending,
        "problem": str(end.problem) if end.problem else None,
        "tasks": tally.done,
        "errors": tally.errors,
        "calls": tally.calls,
        "cache_hits": tally.cached,
        "saved_tokens": tally.saved_tokens,
        "input_tokens": tally.input_tokens,
        "output_tokens": tally.output_tokens,
        "cost_usd": tally.cost,
        "unpriced": tally.unpriced,
    }
    judges = [
        _learnt(judge, end.judges[seat]) if seat in end.judges else judge
        for seat, judge in enumerate(manifest["judges"])
    ]
    return {
        **manifest,
        "judge": {**manifest["judge"], **_of_first(judges)},
        "judges": judges,
        "sessions": [*manifest["sessions"], session],
    }


def read_share(manifest: Mapping[str, Any]) -> float:
    """Return the share of the data's records that could be read."""
    data = manifest["data"]
    rows, unread = int(data["rows"]), int(data["unread"])
    return rows / (rows + unread)


def _judges(job: Job, before: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return an entry for each judge, with its price today and what earlier sittings learnt about it."""
    learnt = [{key: value for key, value in judge.items() if key in _LEARNT} for judge in before]
    seats = [("first", 1.0), *((seat.role, seat.share) for seat in job.plan.others)]
    prices = [price_entry(judge_price(spec, job.settings.judge)) for spec in job.panel.specs] or [None]
    return [
        {"name": name, "role": role, "share": share, "price": price, **(learnt[seat] if seat < len(learnt) else {})}
        for seat, (name, (role, share), price) in enumerate(zip(job.plan.judges, seats, prices, strict=True))
    ]


def _of_first(judges: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {key: value for key, value in judges[0].items() if key in _LEARNT}


def _learnt(judge: Mapping[str, Any], facts: JudgeFacts) -> dict[str, Any]:
    """Add what a sitting learnt; what an earlier one learnt stays, since verdicts of it are in the run."""
    new = {key: value for key, value in facts.as_dict().items() if value is not None}
    return {**judge, **new, "dropped": sorted({*judge.get("dropped", ()), *facts.dropped})}


def _parameters(judge: JudgeSettings) -> dict[str, Any]:
    return {
        "temperature": judge.temperature,
        "max_tokens": judge.max_tokens,
        "seed": judge.seed_sent,
        "concurrency": judge.concurrency,
        "rpm": judge.rpm,
        "tpm": judge.tpm,
        "timeout": judge.timeout,
        "max_attempts": judge.max_attempts,
        "max_calls": judge.max_calls,
        "max_cost": judge.max_cost,
    }


def _stamp(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")
