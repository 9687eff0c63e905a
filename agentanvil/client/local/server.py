"""A llama.cpp server of our own: started on a free loopback port, waited for, and never left behind."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import httpx

from agentanvil.client.local.binary import ServerBinary
from agentanvil.client.local.prefix import share_prefix
from agentanvil.errors import JudgeSetupError

CONTEXT_PER_SLOT = 4096
HEALTH_S = 180.0
_POLL_S = 0.1
STOP_S = 5.0
_LAST_LINES = 5
_LOG_END = 1 << 14  # bytes in which the last lines are looked for: the log of a long run is long
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """What to serve. `slots` calls are worked on at once, each with `context` tokens for prompt and reply.

    It has `health_s` seconds to get ready, and `stop_s` to end by itself before it is killed.
    """

    model: Path
    slots: int
    context: int = CONTEXT_PER_SLOT
    health_s: float = HEALTH_S
    stop_s: float = STOP_S


class LocalServer:
    """An async context: the server runs while it lasts. `waited` is told the seconds until it is healthy.

    The server ends with the context, with the interpreter (`atexit`), and on Linux with the process however
    that dies: the kernel kills it when the thread that started it is gone, so that thread must be one that lasts.
    """

    def __init__(
        self,
        binary: ServerBinary,
        settings: ServerSettings,
        environ: Mapping[str, str],
        waited: Callable[[float], None] = lambda _: None,
    ) -> None:
        self._binary = binary
        self._settings = settings
        self._environ = environ
        self._waited = waited
        self._process: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] | None = None
        self._saved: tempfile.TemporaryDirectory[str] | None = None
        self.base_url = ""

    async def __aenter__(self) -> Self:
        """Start it and wait until it is healthy. Raises JudgeSetupError with its last words where it is not."""
        port = _free_port()
        self.base_url = f"http://127.0.0.1:{port}/v1"
        atexit.register(self._kill)
        try:
            self._process = self._start(port)
            await self._healthy(f"http://127.0.0.1:{port}/health")
        except BaseException:
            self._stop()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self._stop)

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._process is not None and self._process.poll() is None

    async def share_prefix(self, body: bytes) -> bool:
        """Let all slots hold the system message of `body`, which comes with every row; tell whether they do."""
        if self._saved is None:
            return False
        origin = self.base_url.removesuffix("/v1")
        return await share_prefix(origin, self._settings.slots, Path(self._saved.name), body)

    async def ended(self, within_s: float) -> bool:
        """Tell whether the process is gone, or will be within so many seconds: its connections break before it is."""
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                await asyncio.to_thread(self._process.wait, within_s)
        return not self.alive

    def last_words(self) -> str:
        """Return how the server ended, with the end of what it logged."""
        code = self._process.poll() if self._process is not None else None
        if code in {-signal.SIGILL, 128 + signal.SIGILL}:  # the second is how a script around it tells the first
            return (
                "it used a processor instruction that this machine does not have: this build of llama-server does not "
                "run this model here; put another build on PATH, or use another model"
            )
        lines = [line.strip() for line in self._log_end().splitlines() if line.strip()][-_LAST_LINES:]
        how = _how_it_ended(code)
        return f"{how}; its last lines: {' | '.join(lines)}" if lines else how

    def _start(self, port: int) -> subprocess.Popen[bytes]:
        settings = self._settings
        command = [str(self._binary.path), "--model", str(settings.model), "--host", "127.0.0.1", "--port", str(port)]
        command += ["--parallel", str(settings.slots), "--ctx-size", str(settings.slots * settings.context)]
        try:
            self._log = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the server does
            self._saved = tempfile.TemporaryDirectory(prefix="anvil-local-")  # likewise
            command += ["--slot-save-path", self._saved.name]
            return subprocess.Popen(  # noqa: S603 - the server that the user chose
                [*command, *FLAGS],
                env={**SPARINGLY, **self._binary.environment(self._environ)},
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C is ours to handle: calls in flight finish first
                preexec_fn=_die_with_parent() if sys.platform == "linux" else None,  # noqa: PLW1509 - one system call
            )
        except OSError as error:
            raise JudgeSetupError(f"{self._binary.path} cannot be started: {error.strerror or error}") from error

    async def _healthy(self, url: str) -> None:
        loop = asyncio.get_running_loop()
        started = loop.time()
        async with httpx.AsyncClient(trust_env=False) as client:
            while (seconds := loop.time() - started) < self._settings.health_s:
                if not self.alive:
                    raise JudgeSetupError(f"llama-server did not start: {self.last_words()}")
                with contextlib.suppress(httpx.HTTPError):
                    ready = (await client.get(url, timeout=2.0)).status_code == httpx.codes.OK
                    if ready and self.alive:
                        return
                self._waited(seconds)
                await asyncio.sleep(_POLL_S)
        raise JudgeSetupError(f"llama-server is not ready after {self._settings.health_s:g} s: {self.last_words()}")

    def _stop(self) -> None:
        process = self._process
        if process is not None and process.poll() is None:
            _end(process, kill=False)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(self._settings.stop_s)
            _end(process, kill=True)
            process.wait()
        atexit.unregister(self._kill)
        if self._log is not None:
            self._log.close()
            self._log = None
        if self._saved is not None:
            self._saved.cleanup()
            self._saved = None

    def _kill(self) -> None:
        if self._process is not None and self.alive:
            _end(self._process, kill=True)

    def _log_end(self) -> str:
        if self._log is None:
            return ""
        size = self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, size - _LOG_END))
        return self._log.read().decode("utf-8", "replace")


FLAGS: tuple[str, ...] = ("--no-webui",)
# Without this the server keeps each finished row's state, 40 MB, up to 8 GB. Set by a variable, which builds that are
# too old to know it ignore, where a flag would stop them; the user's own setting goes first.
SPARINGLY: Mapping[str, str] = {"LLAMA_ARG_CACHE_RAM": "0"}


def _end(process: subprocess.Popen[bytes], *, kill: bool) -> None:
    """Signal everything in the server's session: what is on PATH may be a script that runs the server."""
    if sys.platform == "win32":
        process.kill()
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):  # nobody is left in it
        os.killpg(process.pid, signal.SIGKILL if kill else signal.SIGTERM)


def _how_it_ended(code: int | None) -> str:
    if code is None:
        return "it is still running"
    if code >= 0:
        return f"it ended with {code}"
    guess = " (is there memory enough for the model?)" if code == -9 else ""
    return f"it was killed by signal {-code}, {signal.strsignal(-code)}{guess}"


def _free_port() -> int:
    """Return a port that was free just now.

    Should another program take it first, the server ends at once, unable to listen, and that is told.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _die_with_parent() -> Callable[[], None]:
    """Return what the new process does first. All is looked up before the fork: other threads may hold locks."""
    prctl = ctypes.CDLL(None).prctl
    parent = os.getpid()

    def ask() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it was gone before the request took effect
            os._exit(1)

    return ask
