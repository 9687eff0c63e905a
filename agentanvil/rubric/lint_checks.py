"""Findings about dimensions that code could decide: `in at most 50 words` is a count, `valid JSON` a format.

A dimension is only accused if nothing is left of its question, or of each of its anchors, once the countable part is
taken away. So `Is it complete, in at most 50 words?` stays with the judge.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentanvil.rubric.findings import Finding, finding
from agentanvil.rubric.lint_countable import COUNTABLE, TOOL_CHECKS
from agentanvil.rubric.lint_reading import Reading
from agentanvil.rubric.lint_words import NAMELESS, NEUTRAL, words

# Whoever needs more words than these asks for more than a count.
_LONGEST = 240


def lint_checks(reading: Reading) -> Iterator[Finding]:
    """Yield the finding R202."""
    for index, dimension in reading.judged():
        where, checks = "question", countable(dimension.question)
        if not checks and len(dimension.anchors) > 1:
            each = {countable(text) for text in dimension.anchors.values()}
            where, checks = "anchors", each.pop() if len(each) == 1 else ()
        if checks:
            named = " and ".join(f"`{check}`" for check in checks)
            ask = "asks" if where == "question" else "ask"
            line = reading.line("dimensions", index, where)
            what = f"the {where} of {dimension.id} {ask} for no more than {named} can check"
            yield finding("R202", what, dimension=dimension.id, line=line)


def countable(text: str) -> tuple[str, ...]:
    """Return the types of check that settle all of `text`, in the order of the registry; none if a judge is needed."""
    if len(text) > _LONGEST:
        return ()
    rest, checks = " ".join(text.split()), []
    for check, pattern in COUNTABLE:
        found = pattern.search(rest)
        if found is None or (check in TOOL_CHECKS and NAMELESS & set(words(found.group()))):
            continue
        if check not in checks:
            checks.append(check)
        rest = f"{rest[: found.start()]} {rest[found.end() :]}"
    return tuple(checks) if set(words(rest)) <= NEUTRAL else ()
