"""The check of what a tool was called with."""

from __future__ import annotations

from jsonschema_rs import Validator

from agentanvil.checks.calls import numbered_calls
from agentanvil.checks.finding import CheckFaultError, Finding, ParameterError, Parameters, TraceCheck, excerpt
from agentanvil.checks.limits import NOT_RECORDED
from agentanvil.checks.schemas import meets, schema_validator
from agentanvil.dataset import ToolStep, Trace

CALLS = ("all", "any")


def argument_matches(params: Parameters) -> TraceCheck:
    """Passes where the arguments of the calls of `tool` meet `schema`: of `all` its calls, or of `any` of them.

    Broken arguments meet no schema. A call whose arguments are not recorded counts only where the other calls leave
    the answer open: CheckFaultError `not_recorded`. Without a call of the tool, `any` fails and `all` decides nothing.
    """
    tool, calls = params.get("tool"), params.get("calls", "all")
    if not isinstance(tool, str) or not tool:
        raise ParameterError("tool", "must name a tool")
    if calls not in CALLS:
        raise ParameterError("calls", f"must be one of {', '.join(CALLS)}")
    validator = schema_validator(params)

    def check(trace: Trace) -> Finding:
        findings, faults = _look_at(trace, tool, validator)
        # Of all calls one failure decides, of any call one pass; the rest of the calls cannot change that.
        deciding = next((finding for finding in findings if finding.passed == (calls == "any")), None)
        if deciding is not None:
            return deciding
        if faults:
            raise faults[0]
        if not findings:
            return Finding(None if calls == "all" else False, f"{excerpt(tool)} was not called")
        if calls == "any":
            more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
            return Finding(False, f"{findings[0].reason}{more}")
        return Finding(True, f"the arguments of all {len(findings)} calls of {excerpt(tool)} meet the schema")

    return check


def _look_at(trace: Trace, tool: str, validator: Validator) -> tuple[list[Finding], list[CheckFaultError]]:
    findings: list[Finding] = []
    faults: list[CheckFaultError] = []
    for number, call in numbered_calls(trace):
        if call.tool != tool:
            continue
        try:
            finding = _met(call, validator)
        except CheckFaultError as fault:
            faults.append(CheckFaultError(fault.code, f"step {number}: {fault.message}"))
        else:
            findings.append(Finding(finding.passed, f"step {number}: {finding.reason}"))
    return findings, faults


def _met(call: ToolStep, validator: Validator) -> Finding:
    hidden = call.redacted and not isinstance(call.args, dict)
    if call.args is not None and not hidden:
        return meets(validator, call.args)
    if call.args_raw is not None:
        return Finding(False, f"the arguments are broken: {excerpt(call.args_raw)}")
    raise CheckFaultError(NOT_RECORDED, f"the arguments of {excerpt(call.tool)} are not recorded")
