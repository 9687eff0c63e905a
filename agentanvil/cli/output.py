"""Where text goes: machine output alone to standard output, everything for people to standard error."""

from __future__ import annotations

import os
import re
import sys
from typing import TextIO

import typer

_STEERING = re.compile("[\\x00-\\x09\\x0b-\\x1f\\x7f-\\x9f\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069\\ud800-\\udfff]")


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
    """Return text whose control characters cannot steer a terminal: judges, rows and endpoints may send any.

    Spaces of every script and what joins letters or emoji stay; controls but the line end, marks that turn the
    writing direction, and lone surrogates are shown as U+FFFD.
    """
    return text if text.isprintable() else _STEERING.sub("\ufffd", text)
