"""What a run asks of its rows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Asked:
    """What the run asks of every row. `needs_source`: the rubric judges against a source.

    `pairs`: each row holds two responses. `booleans`: labels are true and false. `traces`: a chat in a response's place
    is an agent's run even where no tool was called.
    """

    needs_source: bool = False
    pairs: bool = False
    booleans: bool = False
    traces: bool = False
