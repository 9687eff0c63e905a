"""Read rubrics' contracts before a cent is spent, and the rows that they are meant for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import get_args

from agentanvil.errors import UsageError, quoted
from agentanvil.rubric import CODES, Code, Finding, Linted, Mode, lint_file, lint_rubric
from agentanvil.rubric.catalogue import entry
from agentanvil.runner.exits import Exit
from agentanvil.runner.job import STDIN, Surroundings, open_rows, rubric_in_mode
from agentanvil.runner.lint_data import lint_rows
from agentanvil.runner.local_judge import name_judge
from agentanvil.runner.settings import JudgeSettings


@dataclass(frozen=True, slots=True)
class LintSettings:
    """One `anvil lint`. `data` is None where only the contracts are read; `mode` for what each rubric says.

    `mapping` and `vs` are about the data as in `anvil grade`; `judge` names who is going to grade it,
    `families` are those of anvil.yaml.
    """

    files: tuple[str, ...]
    mode: Mode | None = None
    data: str | None = None
    mapping: tuple[str, ...] = ()
    vs: tuple[str, ...] = ()
    judge: str | None = None
    families: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise UsageError for settings that cannot be meant together."""
        if not self.files:
            raise UsageError("Missing argument: no rubric is named", hint="anvil lint RUBRIC…, or --explain CODE")
        if self.mode is not None and self.mode not in get_args(Mode):
            raise UsageError(f"--mode is one of {', '.join(get_args(Mode))}, not {self.mode!r}")
        if self.data is None:
            for flag, given in (("--map", self.mapping), ("--vs", self.vs), ("--judge", self.judge)):
                if given:
                    raise UsageError(f"{flag} is about rows, and none are given", hint="add --data FILE")
        if self.data == STDIN and len(self.files) > 1:
            raise UsageError("standard input is read once, and several rubrics are named", hint="lint one at a time")


@dataclass(frozen=True, slots=True)
class Explained:
    """One kind of finding, and the same as a text to be read."""

    code: str
    kind: Code
    text: str


@dataclass(frozen=True, slots=True)
class LintResult:
    """One rubric file with its findings. `usable` tells whether a run could start with it."""

    file: str
    findings: tuple[Finding, ...]
    usable: bool


def lint(settings: LintSettings, around: Surroundings) -> list[LintResult]:
    """Lint each file; one that cannot be used does not keep the others from being read.

    Raises InputError for data or a judge that cannot be used as named.
    """
    judge = name_judge(JudgeSettings(judge=settings.judge), around.environ)
    results = []
    for file in settings.files:
        linted = _linted(file, settings.mode)
        findings = linted.findings
        if linted.rubric is not None and settings.data is not None:
            # Rows without a source are a finding here, and no reason to stop at the first.
            lenient = replace(linted.rubric, needs_source=False)
            with open_rows(settings.data, settings.mapping, lenient, around, settings.vs) as rows:
                findings += lint_rows(linted.rubric, rows, judge, settings.families)
        results.append(LintResult(file, findings, linted.rubric is not None))
    return results


def lint_exit(results: Iterable[LintResult], *, strict: bool) -> Exit:
    """Decide: 2 for a rubric that cannot be used, 1 for an error (with `strict`, or a warning), else 0."""
    results = list(results)
    if not all(result.usable for result in results):
        return Exit.USAGE
    grave = {"error", "warning"} if strict else {"error"}
    return Exit.GATE_FAILED if any(f.severity in grave for r in results for f in r.findings) else Exit.OK


def explain(name: str) -> Explained:
    """Return the kind that is called `name`, by its code or its title. Raises UsageError for any other."""
    wanted = name.strip().casefold()
    known = {word.casefold(): code for code, kind in CODES.items() for word in (code, kind.title)}
    if wanted not in known:
        close = dict.fromkeys(known[word] for word in get_close_matches(wanted, known, n=6, cutoff=0.5))
        near = ", ".join(f"{code} {CODES[code].title}" for code in close)
        hint = f"the nearest are {near}" if near else f"the codes are {', '.join(CODES)}"
        raise UsageError(f"no finding is called {quoted(name)}", hint=hint)
    code = known[wanted]
    return Explained(code, CODES[code], entry(code, CODES[code]))


def _linted(file: str, mode: Mode | None) -> Linted:
    linted = lint_file(file)
    if linted.rubric is None or mode in (None, linted.rubric.mode):
        return linted
    asked = rubric_in_mode(linted.rubric, mode)
    return Linted(lint_rubric(asked), asked)
