"""Read rubrics' contracts before a cent is spent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from agentanvil.errors import AnvilError, RubricError
from agentanvil.rubric import Finding, lint_rubric, load_rubric
from agentanvil.runner.exits import Exit


@dataclass(frozen=True, slots=True)
class LintResult:
    """One rubric file: its findings, or the error that kept it from being read."""

    file: str
    findings: tuple[Finding, ...] = ()
    error: AnvilError | None = None


def lint(files: Iterable[str]) -> list[LintResult]:
    """Lint each file; one that cannot be read does not keep the others from being read."""
    results = []
    for file in files:
        try:
            results.append(LintResult(file, lint_rubric(load_rubric(file))))
        except RubricError as error:
            results.append(LintResult(file, error=error))
    return results


def lint_exit(results: Iterable[LintResult], *, strict: bool) -> Exit:
    """Decide: 2 for an unreadable rubric, 1 for an error finding (with `strict`, for any finding), else 0."""
    results = list(results)
    if any(result.error is not None for result in results):
        return Exit.USAGE
    failing = [f for result in results for f in result.findings if strict or f.severity == "error"]
    return Exit.GATE_FAILED if failing else Exit.OK
