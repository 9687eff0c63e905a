from __future__ import annotations

import hashlib
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agentanvil.client.local import Hub, LocalModel, obtain
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
