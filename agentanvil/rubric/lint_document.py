"""A rubric file → everything that can be said against it, whether or not it can be used: `lint_file`."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from os import PathLike

from agentanvil.errors import RubricError
from agentanvil.rubric.findings import CODES, Finding
from agentanvil.rubric.lint import lint_rubric
from agentanvil.rubric.load import examine, finish, read_source, read_text
from agentanvil.rubric.model import Rubric
from agentanvil.rubric.problems import Problem
from agentanvil.rubric.wire import RubricWire
from agentanvil.rubric.yaml_text import YamlPath, YamlText

# In one mapping an unknown key hides the next, so that each round may show more.
_ROUNDS = 20
# Problems under these leave nothing that the other rules could be asked about.
_FOUNDATIONS = frozenset({"version", "scale", "reply"})
# Keys of mappings whose own keys a YAML boolean must not be.
_LABELLED = ("labels", "anchors")


@dataclass(frozen=True, slots=True)
class Linted:
    """One file: its findings in the order of their lines. `rubric` is None where no run could use the file."""

    findings: tuple[Finding, ...]
    rubric: Rubric | None = None


def lint_file(path: str | PathLike[str]) -> Linted:
    """Lint one file. Whatever keeps it from being used is a finding too; no RubricError is raised."""
    try:
        text = read_text(path)
    except RubricError as error:
        return Linted((_unreadable(error),))
    return lint_text(text, str(path))


def lint_text(text: str, file: str | None = None) -> Linted:
    """Lint the text of a rubric; `file` is only named in the rubric itself."""
    try:
        source = read_source(text, file)
    except RubricError as error:
        return Linted((_unreadable(error),))
    wire, problems = _examined(source)
    refused = [_refused(problem, source) for problem in problems]
    if wire is None or any(problem.path[:1] and problem.path[0] in _FOUNDATIONS for problem in problems):
        return Linted(_ordered(refused))
    rubric = finish(wire, source, text)
    found = _ordered([*refused, *lint_rubric(rubric)])
    return Linted(found, None if problems else rubric)


def _examined(source: YamlText) -> tuple[RubricWire | None, list[Problem]]:
    """Examine the file, and again without its unknown keys, until every problem has been seen."""
    wire, problems = examine(source)
    unknown = [problem.path for problem in problems if problem.code == "R003"]
    if not unknown:
        return wire, problems
    seen = list(problems)
    pruned = replace(source, data=deepcopy(source.data))
    for _ in range(_ROUNDS):
        for path in unknown:
            _remove(pruned.data, path)
        _, further = examine(pruned)
        seen += [problem for problem in further if problem not in seen]
        unknown = [problem.path for problem in further if problem.code == "R003"]
        if not unknown:
            break
    return None, seen


def _remove(data: object, path: YamlPath) -> None:
    for step in path[:-1]:
        if not isinstance(data, dict | list):
            return
        data = data[step]  # type: ignore[index]  # the path was found in this very data
    if isinstance(data, dict):
        data.pop(path[-1], None)


def _refused(problem: Problem, source: YamlText) -> Finding:
    where = source.where(problem.path)
    place = f"`{where.key}`: " if where.key else ""
    return _plain(problem.code, f"{place}{problem.message}", problem.hint, where.line)


def _unreadable(error: RubricError) -> Finding:
    key = error.where.key if error.where is not None else None
    code = "R703" if key is not None and key.split(".")[-1] in _LABELLED else "R001"
    place = f"`{key}`: " if key else ""
    return _plain(code, f"{place}{error.message}", error.hint, error.where.line if error.where else None)


def _plain(code: str, message: str, hint: str | None, line: int | None) -> Finding:
    """Return a finding whose own hint, where there is one, is closer than what the code says in general."""
    kind = CODES[code]
    mend = kind.mend
    if hint is not None:
        mend = f"{hint[:1].upper()}{hint[1:]}{'' if hint.endswith(('.', '?')) else '.'}"
    return Finding(code, kind.severity, f"{message}: {kind.why}.", mend, line=line)


def _ordered(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(findings, key=lambda one: (one.line or 0, one.code, one.message)))
