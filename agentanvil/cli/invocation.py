"""What a verb hands to the runner: its flags by name, and the process around it."""

from __future__ import annotations

import os
import sys
from typing import Any

import typer

from agentanvil.runner.job import Surroundings


def surroundings() -> Surroundings:
    """Return the environment and standard input, which no room below looks up for itself."""
    return Surroundings(os.environ, sys.stdin.buffer)


def flags(ctx: typer.Context) -> dict[str, Any]:
    """Return a verb's parameters by the names that settings have: those that Python reserves lose their underscore."""
    return {name.rstrip("_"): value for name, value in ctx.params.items()}
