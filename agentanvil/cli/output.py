"""Where text goes: machine output alone to standard output, everything for people to standard error."""

from __future__ import annotations

import os
import sys
from typing import TextIO

import typer


def emit(data: bytes) -> None:
    """Write machine output. A reader that went away (`| head`) changes nothing about how the command ends."""
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        leave(sys.stdout)


def say(text: str) -> None:
    """Write a line for a person. A reader that went away is no reason to stop."""
    try:
        typer.echo(visible(text), err=True)
    except BrokenPipeError:
        leave(sys.stderr)


def leave(stream: TextIO) -> None:
    """Send what is still written to a stream nowhere, so that no flush at the exit fails again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def visible(text: str) -> str:
    """Return text whose control characters cannot steer a terminal: judges, rows and endpoints may send any."""
    if text.isprintable():
        return text
    return "".join([char if char.isprintable() or char == "\n" else "\ufffd" for char in text])
