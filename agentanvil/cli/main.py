"""The outermost frame: every error becomes one message and one exit code."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path

from agentanvil import __version__
from agentanvil.cli.app import app
from agentanvil.cli.output import leave, say
from agentanvil.errors import AnvilError, RunWriteError

_INTERNAL = 5
_INTERRUPTED = 130
_USAGE = 2
_MISSING = 3


def main(command: Callable[[], object] = app) -> None:
    """Run `anvil` and exit. No traceback reaches the user; our own bugs leave a report file."""
    _mend_streams()
    try:
        command()
    except AnvilError as error:
        say(f"error: {error}")
        sys.exit(_MISSING if isinstance(error, RunWriteError) else _USAGE)
    except KeyboardInterrupt:
        say("interrupted")
        sys.exit(_INTERRUPTED)
    except SystemExit as end:
        if not isinstance(end.__context__, BrokenPipeError):
            raise
        leave(sys.stdout)  # typer's own code for it is 1, which here means that a gate failed
        sys.exit(0)
    except Exception as error:  # the last frame: anything that arrives here is our bug
        report = _write_report(error)
        say(
            f"internal error: {type(error).__name__}. This is a bug in anvil, not in your input.\n"
            f"  A report was written to {report}; it holds a traceback and versions, none of your data."
        )
        sys.exit(_INTERNAL)


def _mend_streams() -> None:
    """Give a process whose standard streams were closed some that lead nowhere, and let no character fail."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - as long as the process
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def _write_report(error: Exception) -> Path:
    """Write frames and versions, without the exception's text: it may quote rows or keys."""
    frames = "".join(traceback.format_tb(error.__traceback__))
    handle, name = tempfile.mkstemp(prefix="anvil-crash-", suffix=".txt")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(f"anvil {__version__}\npython {sys.version}\nplatform {platform.platform()}\n\n")
        file.write(f"{frames}{type(error).__name__}\n")
    return Path(name)
