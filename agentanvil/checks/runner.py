"""The checks of a rubric, prepared once, run row by row."""

from __future__ import annotations

from dataclasses import dataclass

from agentanvil.checks.fields import parse_field, read_field
from agentanvil.checks.finding import Check, CheckFaultError, Compile, ParameterError
from agentanvil.checks.patterns import matches
from agentanvil.checks.schemas import meets_schema
from agentanvil.checks.texts import contains, equals_field, max_chars, max_words, not_contains
from agentanvil.dataset import FieldPath, Row
from agentanvil.errors import RubricError, Where
from agentanvil.plan import Task
from agentanvil.rubric import CheckDimension, Rubric
from agentanvil.verdict import Cell, InputFault, Outcome, Scored

CHECKS: dict[str, Compile] = {
    "regex": matches,
    "contains": contains,
    "not_contains": not_contains,
    "json_schema": meets_schema,
    "max_words": max_words,
    "max_chars": max_chars,
    "equals_field": equals_field,
}


@dataclass(frozen=True, slots=True)
class _Prepared:
    path: FieldPath
    check: Check


class CheckRunner:
    """Decides a rubric's check dimensions: a pass is the scale's maximum, a failure its minimum."""

    def __init__(self, rubric: Rubric) -> None:
        """Prepare every check. Raises RubricError naming the dimension and the parameter."""
        self._pass, self._fail = rubric.scale.max, rubric.scale.min
        self._prepared = {dimension.id: _prepare(dimension, rubric.file) for dimension in rubric.checked}

    def run(self, task: Task) -> Outcome:
        """Return the outcome of a check call: one cell per dimension, no exchanges."""
        return task.outcome({dimension: self._cell(dimension, task.row) for dimension in task.call.dimensions})

    def _cell(self, dimension: str, row: Row) -> Cell:
        prepared = self._prepared[dimension]
        try:
            finding = prepared.check(read_field(row, prepared.path), row)
        except CheckFaultError as fault:
            return InputFault(fault.code, fault.message)
        return Scored(self._pass if finding.passed else self._fail, reason=finding.reason)


def _prepare(dimension: CheckDimension, file: str | None) -> _Prepared:
    spec = dimension.check
    where = Where(file, dimension.line, f"{dimension.id}.check")
    if spec.type not in CHECKS:
        hint = f"the types are {', '.join(CHECKS)}"
        raise RubricError(f"no check is called {spec.type!r}", where=where, hint=hint)
    try:
        return _Prepared(parse_field(spec.on, "on"), CHECKS[spec.type](spec.params))
    except ParameterError as error:
        place = Where(file, dimension.line, f"{dimension.id}.check.{error.key}")
        raise RubricError(error.message, where=place) from None
