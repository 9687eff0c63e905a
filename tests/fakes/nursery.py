"""`anvil` in forks of a process that has loaded it already: what a fresh interpreter takes a second for, thirty times.

Everything else is as in a process of its own: folder, environment, streams, exit code.
"""

from __future__ import annotations

import io
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from agentanvil.cli.app import VERBS
from agentanvil.cli.main import main

_LONGEST_S = 120
_STREAMS = ("in", "out", "err")
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload([__name__, *(f"agentanvil.cli.{verb}" for verb in VERBS)])


def run(arguments: tuple[str, ...], cwd: Path, environ: Mapping[str, str], stdin: bytes) -> tuple[int, bytes, bytes]:
    """Run `anvil` and return its exit code and what it wrote to its two streams."""
    with tempfile.TemporaryDirectory() as scratch:
        streams = [Path(scratch, name) for name in _STREAMS]
        streams[0].write_bytes(stdin)
        process = _FORKS.Process(target=_anvil, args=(arguments, cwd, dict(environ), streams))
        process.start()
        process.join(_LONGEST_S)
        if process.exitcode is None:
            process.kill()
            raise TimeoutError(f"anvil {' '.join(arguments)} did not end in {_LONGEST_S} s")
        return process.exitcode, streams[1].read_bytes(), streams[2].read_bytes()


def _anvil(arguments: tuple[str, ...], cwd: Path, environ: Mapping[str, str], streams: list[Path]) -> None:
    for number, (path, mode) in enumerate(zip(streams, (os.O_RDONLY, os.O_WRONLY, os.O_WRONLY), strict=True)):
        handle = os.open(path, mode | os.O_CREAT)
        os.dup2(handle, number)
        os.close(handle)
    sys.stdin = io.TextIOWrapper(io.FileIO(0), encoding="utf-8")
    sys.stdout = io.TextIOWrapper(io.FileIO(1, "w"), encoding="utf-8")
    sys.stderr = io.TextIOWrapper(io.FileIO(2, "w"), encoding="utf-8", write_through=True)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environ)
    tempfile.tempdir = None  # it is kept from the first look at the environment on
    sys.argv = ["anvil", *arguments]
    main()
