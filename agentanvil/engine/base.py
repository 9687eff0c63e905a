"""The seam of this room: work over tasks without knowing what a judge is."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Protocol

from agentanvil.plan import Task
from agentanvil.verdict import Outcome


class Worker(Protocol):
    """Turns one task into its outcome. Raises only what ends the whole run."""

    def __call__(self, task: Task) -> Awaitable[Outcome]: ...
