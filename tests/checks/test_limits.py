from __future__ import annotations

import pytest

from agentanvil.checks.finding import CheckFaultError, Finding, ParameterError
from agentanvil.checks.limits import max_cost_usd, max_latency_ms, max_tokens, no_error_steps
from agentanvil.dataset import ToolStep, Trace
from tests.fakes.agent_runs import ran

FINE, FAILED, SILENT = (ToolStep("t", args={}, error=error) for error in (False, True, None))


@pytest.mark.parametrize(
    ("steps", "passed", "reason"),
    [
        ((), True, "none of 0 calls is recorded as failed"),
        ((FINE, FINE), True, "none of 2 calls is recorded as failed"),
        ((FINE, SILENT), True, "none of 2 calls is recorded as failed; 1 of 2 calls do not tell"),
        ((SILENT, FAILED), False, "step 2 (“t”) failed; 1 of 2 calls do not tell"),
        ((FINE, FAILED, FAILED, FAILED), False, "step 2 (“t”) and 2 more calls failed"),
    ],
)
def test_no_error_steps(steps: tuple[ToolStep, ...], passed: bool, reason: str) -> None:
    assert no_error_steps({})(ran(*steps)) == Finding(passed, reason)


@pytest.mark.parametrize(
    ("seconds", "limit", "passed", "reason"),
    [
        (2.007, 2007, True, "2007 ms, the limit is 2007"),
        (1.1001, 1100, False, "1100.1 ms, the limit is 1100"),
        (0.0, 0, True, "0 ms, the limit is 0"),
        (0.0005, 0.5, True, "0.5 ms, the limit is 0.5"),
    ],
)
def test_max_latency(seconds: float, limit: float, passed: bool, reason: str) -> None:
    assert max_latency_ms({"limit": limit})(Trace(latency_s=seconds)) == Finding(passed, reason)


@pytest.mark.parametrize(
    ("cost", "limit", "passed", "reason"),
    [
        (0.1 + 0.2, 0.3, True, "0.3 US dollars, the limit is 0.3"),
        (0.31, 0.3, False, "0.31 US dollars, the limit is 0.3"),
        (0, 0, True, "0 US dollars, the limit is 0"),
        (0.000002, 0.000001, False, "0.000002 US dollars, the limit is 0.000001"),
    ],
)
def test_max_cost(cost: float, limit: float, passed: bool, reason: str) -> None:
    assert max_cost_usd({"limit": limit})(Trace(cost_usd=cost)) == Finding(passed, reason)


@pytest.mark.parametrize(
    ("tokens", "limit", "passed", "reason"),
    [
        ((60, 40), 100, True, "100 tokens, the limit is 100"),
        ((60, 41), 100, False, "101 tokens, the limit is 100"),
        ((0, 0), 0, True, "0 tokens, the limit is 0"),
        ((101, None), 100, False, "101 tokens, the limit is 100"),
        ((None, 101), 100, False, "101 tokens, the limit is 100"),
    ],
)
def test_max_tokens(tokens: tuple[int | None, int | None], limit: int, passed: bool, reason: str) -> None:
    trace = Trace(tokens_in=tokens[0], tokens_out=tokens[1])
    assert max_tokens({"limit": limit})(trace) == Finding(passed, reason)


@pytest.mark.parametrize(
    ("compile_check", "trace", "what"),
    [
        (max_latency_ms, Trace(), "latency"),
        (max_cost_usd, Trace(), "cost"),
        (max_tokens, Trace(), "tokens"),
        (max_tokens, Trace(tokens_in=100), "tokens"),
        (max_tokens, Trace(tokens_out=0), "tokens"),
    ],
)
def test_what_is_not_recorded_is_never_nought(compile_check: object, trace: Trace, what: str) -> None:
    with pytest.raises(CheckFaultError, match=f"does not record its {what}") as caught:
        compile_check({"limit": 100})(trace)  # type: ignore[operator]
    assert caught.value.code == "not_recorded"


@pytest.mark.parametrize("compile_check", [max_latency_ms, max_cost_usd, max_tokens])
@pytest.mark.parametrize("limit", [None, -1, "5", True, float("nan"), float("inf")])
def test_limits_that_cannot_be_used(compile_check: object, limit: object) -> None:
    with pytest.raises(ParameterError) as caught:
        compile_check({"limit": limit})  # type: ignore[operator]
    assert caught.value.key == "limit"
