"""A `llama-server` that answers like the real one and has no model: put on the PATH that a test hands over.

    fake = put_llama(tmp_path, loading=2)
    with ...:  # start it through the code under test, with PATH=fake.path
        ...
    assert fake.starts[0].option("--parallel") == "4"
    assert fake.all_gone()

It runs as a process of its own (`python -m tests.fakes.llama`), so that it can crash, be killed and be left behind.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import resource
import shlex
import signal
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.fakes.server import chat_body
from tests.fakes.tokens import spelling
from tests.fakes.verdicts import verdict_for

ROOT = Path(__file__).resolve().parents[2]
_STARTS = "starts.jsonl"
_ASKED = "asked.jsonl"
_SHARED = "shared.jsonl"


@dataclass(frozen=True)
class Start:
    """One start of the fake, as it wrote it down itself."""

    pid: int
    arguments: list[str]
    environ: dict[str, str]

    def option(self, name: str) -> str:
        return self.arguments[self.arguments.index(name) + 1]


@dataclass(frozen=True)
class Fake:
    """Where the fake is, and what it did so far."""

    folder: Path

    @property
    def path(self) -> str:
        """A PATH on which it is the only llama-server, beside what its start needs."""
        return os.pathsep.join((str(self.folder), os.defpath))

    @property
    def environ(self) -> dict[str, str]:
        return {"PATH": self.path}

    @property
    def starts(self) -> list[Start]:
        return [Start(**line) for line in _lines(self.folder / _STARTS)]

    @property
    def asked(self) -> list[Any]:
        """The bodies of the chat requests so far."""
        return _lines(self.folder / _ASKED)

    @property
    def shared(self) -> list[Any]:
        """What was asked so far to copy one system message to all slots."""
        return _lines(self.folder / _SHARED)

    def all_gone(self, within_s: float = 5.0) -> bool:
        """Tell whether no start of it still runs, or will not after a moment."""
        return until(lambda: not any(is_running(start.pid) for start in self.starts), within_s)


def put_llama(folder: Path, *, wrapped: bool = False, **how: Any) -> Fake:
    """Write an executable `llama-server` into `folder`/llama. What it does is said by the fields of `How`.

    `wrapped`: it is a script that runs the server and waits for it.
    """
    home = folder / "llama"
    home.mkdir()
    command = [sys.executable, "-S", "-m", "tests.fakes.llama", str(home), json.dumps(how)]
    path = home / "llama-server"
    start = f'env PYTHONPATH={shlex.quote(str(ROOT))} {shlex.join(command)} "$@"'
    path.write_text(f"#!/bin/sh\n{start}\nexit $?\n" if wrapped else f"#!/bin/sh\nexec {start}\n", encoding="utf-8")
    path.chmod(0o755)
    return Fake(home)


def put_model(folder: Path, name: str = "tiny.gguf", content: bytes = b"no weights") -> Path:
    """Write what looks like a model file."""
    path = folder / name
    path.write_bytes(b"GGUF" + content)
    return path


def until(reached: Callable[[], bool], within_s: float) -> bool:
    """Wait for something that happens in another process; tell whether it did."""
    deadline = time.monotonic() + within_s
    while not reached():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def is_running(pid: int) -> bool:
    """Tell whether a process is there and not just waiting to be collected by whoever inherited it."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with contextlib.suppress(OSError):
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
        return state != "Z"
    return True


def _lines(path: Path) -> list[Any]:
    if not path.exists():
        return []
    whole = path.read_text(encoding="utf-8").rpartition("\n")[0]
    return [json.loads(line) for line in whole.split("\n") if line]


@dataclass(frozen=True)
class How:
    """What goes wrong. `loading` is how many health checks find it loading (None: it never gets ready).

    `says` is printed at the start; `exits` ends it there with a code, `dies` with a signal by name. `dies_at`
    is the chat request (from 0) at which it dies instead of answering, by `dies` (else by exit code 3), and
    `drops_at` the one that it hangs up on. `stubborn` ignores SIGTERM. `delay_s` passes before each verdict.
    `saves` tells whether slots can be saved.
    """

    loading: int | None = 0
    says: str = ""
    exits: int | None = None
    dies: str | None = None
    dies_at: int | None = None
    drops_at: int | None = None
    stubborn: bool = False
    delay_s: float = 0.0
    saves: bool = True


def _die(how: How) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if how.dies is not None:
        os.kill(os.getpid(), signal.Signals[how.dies])
        time.sleep(60)  # another thread may be the one that it is delivered to
    os._exit(3 if how.exits is None else how.exits)


def _note(home: Path, name: str, value: Mapping[str, Any]) -> None:
    with (home / name).open("a", encoding="utf-8") as file:
        file.write(f"{json.dumps(value)}\n")


def _verdict(body: Mapping[str, Any]) -> Any:
    if "grammar" not in body:
        return verdict_for(body["response_format"]["json_schema"]["schema"])
    names = re.findall(r'\\"(\w+)\\":', body["grammar"])
    one = {"evidence": ["the"], "reason": "so it is", "score": 4}
    kept = {name: value for name, value in one.items() if name in names}
    return {name: kept for name in names if name not in one} or kept


def _handler(home: Path, how: How) -> type[BaseHTTPRequestHandler]:
    checks = 0
    asked = 0

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            nonlocal checks
            checks += 1
            ready = how.loading is not None and checks > how.loading
            self._answer(200 if ready else 503, {"status": "ok"} if ready else {"error": {"message": "Loading model"}})

        def do_POST(self) -> None:
            nonlocal asked
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if not self.path.endswith("/chat/completions") or body["max_tokens"] == 1:
                _note(home, _SHARED, {"path": self.path, **body})
                self._answer(200 if how.saves else 501, {})
                return
            number, asked = asked, asked + 1
            _note(home, _ASKED, body)
            if number == how.dies_at:
                print("the last thing it said", flush=True)
                _die(how)
            if number == how.drops_at:
                self.close_connection = True
                return
            time.sleep(how.delay_s)
            text = json.dumps(_verdict(body))
            reply = chat_body(text)
            if body.get("logprobs"):
                reply["choices"][0]["logprobs"] = spelling(text)
            self._answer(200, reply)

        def _answer(self, status: int, value: Any) -> None:
            data = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: Any) -> None:
            pass

    return Handler


def main(home: Path, how: How, arguments: list[str]) -> None:
    _note(home, _STARTS, {"pid": os.getpid(), "arguments": arguments, "environ": dict(os.environ)})
    if how.stubborn:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print(how.says, flush=True)
    if how.dies_at is None and (how.exits is not None or how.dies is not None):
        _die(how)
    port = int(arguments[arguments.index("--port") + 1])
    ThreadingHTTPServer(("127.0.0.1", port), _handler(home, how)).serve_forever()


if __name__ == "__main__":
    main(Path(sys.argv[1]), How(**json.loads(sys.argv[2])), sys.argv[3:])
