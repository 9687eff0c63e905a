"""The page about every finding, written from the registry: `python -m agentanvil.rubric.catalogue > docs/lint.md`."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from agentanvil.rubric.codes import GROUPS, Code
from agentanvil.rubric.findings import CODES

_HEAD = """\
# What `anvil lint` finds

Written from the code by `python -m agentanvil.rubric.catalogue`; do not edit it by hand.

`anvil lint RUBRIC…` reads contracts before a cent is spent. `anvil lint --explain CODE` prints an entry of this page;
`--data FILE` (with `--map` as in `anvil grade`) adds the findings that need rows, `--judge JUDGE` the one about the
judge's family, and `--format json` prints one document.

Errors make numbers mean nothing, warnings make them mean less, notes are worth knowing. The exit code is 0 without
errors, 1 with an error (with `--strict`: or a warning), and 2 where a rubric or a data file cannot be used at all.
"""


def catalogue() -> str:
    """Return the page, Markdown."""
    return "\n".join([_HEAD, *(line for group, title in GROUPS.items() for line in _section(group, title))])


def entry(name: str, code: Code) -> str:
    """Return one entry as text: what `--explain` prints."""
    why = f"{code.why[:1].upper()}{code.why[1:]}."
    return f"{name} {code.title} ({code.severity})\n\n{code.what}\nWhy it harms: {why}\nHow to mend it: {code.mend}\n"


def _section(group: str, title: str) -> Iterator[str]:
    yield f"## {title}\n"
    for name, code in CODES.items():
        if name.startswith(group):
            why = f"{code.why[:1].upper()}{code.why[1:]}."
            yield f"### {name} {code.title}\n"
            yield f"*{code.severity}*: {code.what}\n"
            yield f"- Why it harms: {why}"
            yield f"- How to mend it: {code.mend}\n"


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]  # a text stream, whatever replaced it
    sys.stdout.write(catalogue())
