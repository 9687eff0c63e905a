"""The checks of a rubric, prepared once, run row by row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from agentanvil.checks.fields import MISSING_FIELD
from agentanvil.checks.finding import Check, CheckFaultError, ParameterError
from agentanvil.checks.own_code import OwnCode
from agentanvil.checks.registry import CHECKS
from agentanvil.dataset import Row
from agentanvil.errors import RubricError, Where
from agentanvil.plan import Task
from agentanvil.rubric import CheckDimension, Rubric
from agentanvil.verdict import Cell, InputFault, NotApplicable, Outcome, Scored


class CheckRunner:
    """Decides a rubric's check dimensions.

    A pass is the scale's maximum and a failure its minimum; in gate mode they are 1 and 0. In a pair the check is run
    on both responses, and the score is that of response_a minus that of response_b.
    """

    def __init__(self, rubric: Rubric, *, allow_code: bool = False) -> None:
        """Prepare every check. Raises RubricError naming the dimension and the parameter.

        Without `allow_code` a check of type `python` is such an error; nothing of it is read then.
        """
        scale = rubric.offered if rubric.mode == "gate" else rubric.scale
        self._pass, self._fail = scale.max, scale.min
        self._pairs = rubric.mode == "pairwise"
        self._code = OwnCode(rubric.file, allowed=allow_code)
        self._checks = {dimension.id: _prepare(dimension, rubric.file, self._code) for dimension in rubric.checked}

    @property
    def code(self) -> Mapping[str, str]:
        """The hash of every module beside the rubric that is run, by its file's name."""
        return self._code.digests

    def run(self, task: Task) -> Outcome:
        """Return the outcome of a check call: one cell per dimension, no exchanges."""
        row = task.row
        if not self._pairs:
            return task.outcome({name: self._one(self._checks[name], row) for name in task.call.dimensions})
        if row.rival is None:
            fault = InputFault(MISSING_FIELD, "response_b: the row has one response only")
            return task.outcome(dict.fromkeys(task.call.dimensions, fault))
        rival = row.rival
        other = replace(row, response=rival.response, model=rival.model, trace=rival.trace, rival=None)
        return task.outcome({name: self._two(self._checks[name], row, other) for name in task.call.dimensions})

    def _one(self, check: Check, row: Row) -> Scored | NotApplicable | InputFault:
        try:
            finding = check(row)
        except CheckFaultError as fault:
            return InputFault(fault.code, fault.message)
        if finding.passed is None:
            return NotApplicable(reason=finding.reason)
        return Scored(self._pass if finding.passed else self._fail, reason=finding.reason)

    def _two(self, check: Check, row: Row, other: Row) -> Cell:
        """Return the difference of two cells; one that holds no score leaves nothing to compare."""
        a, b = self._one(check, row), self._one(check, other)
        if isinstance(a, InputFault):
            return InputFault(a.code, f"response_a: {a.message}")
        if isinstance(b, InputFault):
            return InputFault(b.code, f"response_b: {b.message}")
        reason = f"response_a: {a.reason}; response_b: {b.reason}"
        if isinstance(a, Scored) and isinstance(b, Scored):
            return Scored(a.score - b.score, reason=reason)
        return NotApplicable(reason=reason)


def _prepare(dimension: CheckDimension, file: str | None, code: OwnCode) -> Check:
    spec = dimension.check
    place = f"{dimension.id}.check"
    if spec.type not in CHECKS:
        hint = f"the types are {', '.join(CHECKS)}"
        raise RubricError(f"no check is called {spec.type!r}", where=Where(file, dimension.line, place), hint=hint)
    try:
        return CHECKS[spec.type](spec, code)
    except ParameterError as error:
        where = Where(file, dimension.line, f"{place}.{error.key}")
        raise RubricError(error.message, where=where, hint=error.hint) from None
