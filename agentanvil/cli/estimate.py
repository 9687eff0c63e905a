"""What a run would ask and cost, as a person reads it; the lines go to standard output."""

from __future__ import annotations

from collections.abc import Iterator

from agentanvil.cli.output import visible
from agentanvil.runner.estimate import Estimate, JudgeEstimate
from agentanvil.runner.meter import Amount

_MINUTE_S, _HOUR_S = 60, 3600
_NOT_COUNTED = (
    "Not counted: questions asked again, failed attempts, and what a provider takes off for a prompt in its own cache."
)


def estimate_lines(found: Estimate) -> Iterator[str]:
    """Yield the totals, each judge where there are several or one may be asked more, and what they rest on."""
    least = Amount(found.calls, found.cached, found.input_tokens, found.output_tokens, found.cost_usd)
    kept = f", {found.cached} more answered by the cache" if found.cached else ""
    calls = _range(found.calls, found.most.calls)
    yield f"rows {found.rows}, judge calls {calls}{kept}, done before {found.done_before}"
    yield f"about {_tokens(least, found.most)}; cost {_cost(least, found.most)}"
    yield f"time {_time(found.seconds, found.most_seconds)}"
    if len(found.judges) > 1:
        yield from map(_judge, found.judges)
    yield from (line for judge in found.judges if judge.most.calls and (line := _latency(judge)))
    if found.most.calls:
        yield _NOT_COUNTED


def _judge(judge: JudgeEstimate) -> str:
    name = visible(judge.judge)
    calls = _range(judge.least.calls, judge.most.calls)
    cost = _cost(judge.least, judge.most)
    return f"  {name} ({judge.role}): {calls} calls, cost {cost}, time {_time(judge.seconds, judge.most_seconds)}"


def _latency(judge: JudgeEstimate) -> str:
    latency, name = judge.latency, visible(judge.judge)
    if latency.source == "unknown":
        return f"How long {name} takes for a call is not known before its first ones."
    if latency.source == "assumed":
        return f"{latency.seconds:g} s a call is assumed of {name}: nothing was asked of it in this run yet."
    return f"{name} took {latency.seconds:.2f} s a call so far."


def _range(least: int, most: int) -> str:
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def _tokens(least: Amount, most: Amount) -> str:
    given, written = (_range(a, b) for a, b in zip(_counts(least), _counts(most), strict=True))
    return f"{given} tokens in, {written} out"


def _counts(amount: Amount) -> tuple[int, int]:
    return amount.input_tokens, amount.output_tokens


def _cost(least: Amount, most: Amount) -> str:
    if most.cost_usd is None or least.cost_usd is None:
        return "unknown (give prices in anvil.yaml)"
    same = least.cost_usd == most.cost_usd
    return f"${least.cost_usd:.4f}" if same else f"${least.cost_usd:.4f} to ${most.cost_usd:.4f}"


def _time(least: float | None, most: float | None) -> str:
    if least is None or most is None:
        return "unknown"
    return f"about {_span(least)}" if least == most else f"about {_span(least)} to {_span(most)}"


def _span(seconds: float) -> str:
    if seconds < _MINUTE_S:
        return f"{seconds:.0f} s"
    whole = round(seconds)
    if whole < _HOUR_S:
        return f"{whole // _MINUTE_S} min {whole % _MINUTE_S:02d} s"
    return f"{whole // _HOUR_S:,} h {whole % _HOUR_S // _MINUTE_S:02d} min"
