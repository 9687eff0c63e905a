from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from agentanvil.client.local import LocalServer, ServerSettings, find_server
from agentanvil.errors import JudgeSetupError
from tests.fakes.llama import ROOT, Fake, is_running, put_llama, put_model, until

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the fake server is a script")


def server_of(fake: Fake, waited: list[float] | None = None, **settings: Any) -> LocalServer:
    chosen = {"model": put_model(fake.folder), "slots": 2, **settings}
    told = (lambda _: None) if waited is None else waited.append
    return LocalServer(find_server(fake.path, lambda: None), ServerSettings(**chosen), fake.environ, told)


def refused(server: LocalServer) -> str:
    """Start a server that does not come up, and return why."""

    async def main() -> None:
        async with server:
            raise AssertionError("it started")

    with pytest.raises(JudgeSetupError) as caught:
        asyncio.run(main())
    return caught.value.message


def test_it_runs_while_the_context_lasts(tmp_path: Path) -> None:
    fake = put_llama(tmp_path)
    server = server_of(fake, slots=3, context=1000)
    assert not server.alive

    async def main() -> int:
        async with server:
            assert server.alive
            async with httpx.AsyncClient(trust_env=False) as client:
                return (await client.get(server.base_url.replace("/v1", "/health"))).status_code

    assert asyncio.run(main()) == 200
    assert not server.alive
    assert fake.all_gone(0)
    (start,) = fake.starts
    assert start.option("--model") == str(fake.folder / "tiny.gguf")
    assert (start.option("--host"), start.option("--parallel")) == ("127.0.0.1", "3")
    assert start.option("--ctx-size") == "3000"
    assert server.base_url == f"http://127.0.0.1:{start.option('--port')}/v1"


def test_it_is_waited_for_while_it_loads(tmp_path: Path) -> None:
    fake = put_llama(tmp_path, loading=3)
    waited: list[float] = []

    async def main() -> None:
        async with server_of(fake, waited):
            assert len(waited) >= 3

    asyncio.run(main())
    assert waited == sorted(waited)


def test_a_crash_at_the_start_is_told_with_its_last_lines(tmp_path: Path) -> None:
    says = "\n".join(f"line {n}" for n in range(9)) + "\nerror: invalid magic  \n"
    message = refused(server_of(put_llama(tmp_path, says=says, exits=7)))
    assert message == (
        "llama-server did not start: it ended with 7; "
        "its last lines: line 5 | line 6 | line 7 | line 8 | error: invalid magic"
    )


def test_a_crash_without_a_word_is_told_too(tmp_path: Path) -> None:
    assert refused(server_of(put_llama(tmp_path, exits=7))) == "llama-server did not start: it ended with 7"


def test_the_last_lines_of_a_long_log_are_found(tmp_path: Path) -> None:
    says = "".join(f"slot {n} is idle\n" for n in range(5000)) + "äöü: out of slots"
    message = refused(server_of(put_llama(tmp_path, says=says, exits=7)))
    assert message.endswith("slot 4999 is idle | äöü: out of slots")
    assert len(message) < 200


@pytest.mark.parametrize(
    ("dies", "words"),
    [
        ("SIGKILL", "signal 9, Killed (is there memory enough for the model?)"),
        ("SIGSEGV", "signal 11, Segmentation fault"),
    ],
)
def test_what_killed_it_is_told_by_name(tmp_path: Path, dies: str, words: str) -> None:
    assert refused(server_of(put_llama(tmp_path, dies=dies))) == f"llama-server did not start: it was killed by {words}"


@pytest.mark.parametrize("how", [{"dies": "SIGILL"}, {"dies": "SIGILL", "wrapped": True}])
def test_a_processor_that_is_too_old_has_its_own_sentence(tmp_path: Path, how: dict[str, Any]) -> None:
    message = refused(server_of(put_llama(tmp_path, says="load_model: loading", **how)))
    assert "used a processor instruction that this machine does not have" in message
    assert "put another build on PATH, or use another model" in message
    assert "load_model" not in message


def test_one_that_never_gets_ready_is_stopped(tmp_path: Path) -> None:
    fake = put_llama(tmp_path, loading=None, says="warming up")
    message = refused(server_of(fake, health_s=1.5))
    assert message.startswith("llama-server is not ready after 1.5 s: it is still running")
    assert message.endswith("its last lines: warming up")
    assert fake.all_gone(0)


def test_what_is_no_program_is_told(tmp_path: Path) -> None:
    fake = put_llama(tmp_path)
    (fake.folder / "llama-server").write_bytes(b"\x00\x01 not for this system")
    assert "llama-server cannot be started: Exec format error" in refused(server_of(fake))


def test_an_error_inside_stops_it(tmp_path: Path) -> None:
    fake = put_llama(tmp_path)

    async def main() -> None:
        async with server_of(fake):
            raise RuntimeError("ours")

    with pytest.raises(RuntimeError, match="ours"):
        asyncio.run(main())
    assert len(fake.starts) == 1
    assert fake.all_gone(0)


@pytest.mark.parametrize("loading", [0, None])
def test_being_cancelled_stops_it(tmp_path: Path, loading: int | None) -> None:
    fake = put_llama(tmp_path, loading=loading)

    async def held() -> None:
        async with server_of(fake):
            await asyncio.Event().wait()

    async def main() -> None:
        task = asyncio.create_task(held())
        while not fake.starts:
            await asyncio.sleep(0.02)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert task.cancelled()

    asyncio.run(main())
    assert fake.all_gone(0)


@pytest.mark.parametrize("how", [{"stubborn": True}, {"wrapped": True}, {"wrapped": True, "stubborn": True}])
def test_neither_a_deaf_server_nor_one_behind_a_script_is_left(tmp_path: Path, how: dict[str, bool]) -> None:
    fake = put_llama(tmp_path, **how)

    async def main() -> None:
        async with server_of(fake, stop_s=0.2):
            pass

    asyncio.run(main())
    assert fake.all_gone()


PARENT = """
import asyncio, os, sys
from pathlib import Path
from agentanvil.client.local import LocalServer, ServerBinary, ServerSettings

async def main():
    settings = ServerSettings(Path("any.gguf"), slots=1)
    await LocalServer(ServerBinary(Path(sys.argv[1])), settings, os.environ).__aenter__()
    print("ready", flush=True)
    if sys.argv[2] == "forgets":
        return
    if sys.argv[2] == "raises":
        raise SystemExit(7)
    await asyncio.Event().wait()

asyncio.run(main())
"""


def start_parent(fake: Fake, then: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", PARENT, str(fake.folder / "llama-server"), then]
    surroundings = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(fake.folder)}
    return subprocess.Popen(command, stdout=subprocess.PIPE, env=surroundings)


@pytest.mark.skipif(sys.platform != "linux", reason="only there the kernel can be asked for it")
@pytest.mark.parametrize("stubborn", [False, True])
def test_it_is_gone_when_its_parent_is_killed(tmp_path: Path, stubborn: bool) -> None:
    fake = put_llama(tmp_path, stubborn=stubborn)
    with start_parent(fake, "waits") as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"ready\n"
        assert is_running(fake.starts[0].pid)
        parent.send_signal(signal.SIGKILL)
    assert until(lambda: not is_running(fake.starts[0].pid), 5)


@pytest.mark.parametrize("then", ["forgets", "raises"])
def test_it_is_gone_when_the_interpreter_ends(tmp_path: Path, then: str) -> None:
    fake = put_llama(tmp_path)
    with start_parent(fake, then) as parent:
        assert parent.wait(60) == (0 if then == "forgets" else 7)
    assert fake.all_gone()


@pytest.mark.parametrize(("own", "used"), [({}, "0"), ({"LLAMA_ARG_CACHE_RAM": "512"}, "512")])
def test_finished_rows_are_not_kept_in_memory_unless_the_user_wants_them(
    tmp_path: Path, own: dict[str, str], used: str
) -> None:
    fake = put_llama(tmp_path)
    settings = ServerSettings(put_model(fake.folder), slots=2)

    async def main() -> None:
        async with LocalServer(find_server(fake.path, lambda: None), settings, {**fake.environ, **own}):
            pass

    asyncio.run(main())
    assert fake.starts[0].environ["LLAMA_ARG_CACHE_RAM"] == used
