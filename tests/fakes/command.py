"""The `anvil` command as a process of its own, in a folder and a home of the test's."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.fakes import nursery

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Ended:
    """How the process ended; `out` is as it was written, byte for byte."""

    code: int
    out: bytes
    err: str


def anvil(*arguments: str | Path, cwd: Path, environ: Mapping[str, str] | None = None, stdin: bytes = b"") -> Ended:
    """Run `anvil` in `cwd`; nothing of the caller's home, cache or keys is seen."""
    given = tuple(map(str, arguments))
    if any(name.startswith("PYTHON") for name in environ or ()):  # that is for an interpreter to read as it starts
        return run_python("-m", "agentanvil", *given, cwd=cwd, environ=environ, stdin=stdin)
    code, out, err = nursery.run(given, cwd, _surroundings(cwd, environ), stdin)
    return Ended(code, out, err.decode("utf-8"))


def run_python(*arguments: str, cwd: Path, environ: Mapping[str, str] | None = None, stdin: bytes = b"") -> Ended:
    """Run this interpreter in the same surroundings."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env=_surroundings(cwd, environ),
        input=stdin,
        capture_output=True,
        timeout=120,
        check=False,
    )
    return Ended(done.returncode, done.stdout, done.stderr.decode("utf-8"))


@contextmanager
def begun(
    *arguments: str | Path, cwd: Path, environ: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Start `anvil` in the same surroundings, for tests that interrupt it; it is gone afterwards."""
    process = subprocess.Popen(
        [sys.executable, "-m", "agentanvil", *map(str, arguments)],
        cwd=cwd,
        env=_surroundings(cwd, environ),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def end_of(process: subprocess.Popen[bytes]) -> Ended:
    """Wait for a process to end by itself."""
    out, err = process.communicate(timeout=60)
    return Ended(process.returncode, out, err.decode("utf-8"))


def _surroundings(cwd: Path, environ: Mapping[str, str] | None) -> dict[str, str]:
    home = str(cwd / ".home")
    return {
        "PATH": os.environ.get("PATH", ""),
        "PYTHONPATH": str(ROOT),
        "HOME": home,
        "XDG_CACHE_HOME": home,
        "TMPDIR": str(cwd),
        "COLUMNS": "120",
        **(environ or {}),
    }
