from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from filelock import FileLock
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.client.local import MODELS, LocalModel, OwnModel, named_file, obtain
from agentanvil.client.local.models import Bytes, free_bytes
from agentanvil.errors import ConnectionFaultError, JudgeSetupError, UsageError
from tests.fakes.llama import put_model


@pytest.mark.parametrize("name", ["", "default", "small"])
def test_a_known_model_is_no_file(name: str) -> None:
    assert named_file(name) is None


def test_a_file_of_the_users_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put_model(tmp_path, "my model.gguf")
    own = named_file(str(path))
    assert own is not None
    assert own.path == path
    monkeypatch.setenv("HOME", str(tmp_path))
    assert named_file("~/my model.gguf") == own


def digest_of(path: Path) -> str:
    own = named_file(str(path))
    assert isinstance(own, OwnModel)
    return own.digest


def test_the_same_content_is_the_same_model_wherever_it_lies(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    there = digest_of(put_model(tmp_path / "other", "b.gguf"))
    assert digest_of(put_model(tmp_path, "a.gguf")) == there
    assert digest_of(put_model(tmp_path, "a.gguf", b"no weights!")) != there
    assert digest_of(put_model(tmp_path, "a.gguf", b"")) != there


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return put_model(tmp_path_factory.mktemp("large"), content=b"\x00" * 3_000_000)


@given(at=st.integers(0, 2_999_999))
def test_no_byte_of_a_small_file_escapes_the_digest(large: Path, at: int) -> None:
    before = digest_of(large)
    with large.open("r+b") as file:
        file.seek(4 + at)
        file.write(b"\x01")
        file.flush()
        changed = digest_of(large)
        file.seek(4 + at)
        file.write(b"\x00")
    assert changed != before == digest_of(large)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("none.gguf", "there is no model file .*none.gguf"),
        ("folder", "there is no model file .*folder"),
        ("page.gguf", "page.gguf is not in the GGUF format"),
        ("empty.gguf", "empty.gguf is not in the GGUF format"),
        ("x" * 300, "cannot be read: File name too long"),
        ("page.gguf/below", "there is no model file"),
    ],
)
def test_what_is_no_model_file_is_one_message(tmp_path: Path, name: str, why: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "page.gguf").write_text("<html>", encoding="utf-8")
    (tmp_path / "empty.gguf").touch()
    with pytest.raises(UsageError, match=why) as caught:
        named_file(str(tmp_path / name))
    assert caught.value.hint == "Give the path of a .gguf file, or one of local:default, local:small."


def test_a_home_that_nobody_has() -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        named_file("~nobody-of-that-name/x.gguf")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    path = put_model(tmp_path)
    path.chmod(0)
    with pytest.raises(UsageError, match="cannot be read: Permission denied"):
        named_file(str(path))


def test_the_known_models_are_the_ones_that_were_named() -> None:
    assert {name: (model.size, model.sha256[:8], model.parts) for name, model in MODELS.items()} == {
        "default": (1_117_320_768, "cc324af0", 22),
        "small": (491_400_064, "1d961463", 6),
    }
    assert all(name == model.name and model.hub.endswith(model.file) for name, model in MODELS.items())


BODY = b"GGUF" + bytes(range(256)) * 40
MODEL = LocalModel(
    name="tiny",
    title="Tiny",
    file="tiny.gguf",
    size=len(BODY),
    sha256=hashlib.sha256(BODY).hexdigest(),
    hub="org/tiny.gguf",
    package="tiny-part{}",
    parts=1,
    version="1.0",
)


@dataclass
class Scripted:
    """A source that writes these bytes, telling of each thousand, and then perhaps fails."""

    body: bytes = BODY
    problem: Exception | None = None
    name: str = "a source"
    asked: list[Path] = field(default_factory=list)
    before: Callable[[Path], None] = lambda _: None

    def fetch(self, model: LocalModel, target: Path, progress: Bytes) -> None:
        self.asked.append(target)
        self.before(target)
        with target.open("wb") as file:
            for start in range(0, len(self.body), 1000):
                file.write(self.body[start : start + 1000])
                progress(file.tell(), model.size)
        if self.problem is not None:
            raise self.problem


def ignore(done: int, total: int) -> None:
    pass


def left_in(folder: Path) -> set[str]:
    """What is in the folder beside the lock, which stays."""
    return {path.name for path in folder.iterdir()} - {"tiny.lock"}


def test_the_first_source_that_has_it_is_enough(tmp_path: Path) -> None:
    first, second = Scripted(), Scripted()
    told: list[tuple[int, int]] = []
    path = obtain(MODEL, tmp_path / "deep" / "models", (first, second), lambda *bytes_: told.append(bytes_))
    assert path.read_bytes() == BODY
    assert (len(first.asked), second.asked) == (1, [])
    assert told[-1] == (MODEL.size, MODEL.size)
    assert told == sorted(told)
    assert left_in(path.parent) == {"tiny.gguf"}


@pytest.mark.parametrize(
    ("problem", "body"),
    [
        (ConnectionFaultError("no connection"), b""),
        (JudgeSetupError("half of it"), BODY[:500]),
        (OSError(28, "No space left on device"), BODY),
        (None, BODY[:-1]),
        (None, BODY[:-1] + b"x"),
        (None, BODY + b"x"),
    ],
    ids=["refused", "cut", "disk", "short", "other-bytes", "long"],
)
def test_another_source_is_asked_where_one_fails(tmp_path: Path, problem: Exception | None, body: bytes) -> None:
    first = Scripted(body, problem)
    second = Scripted(before=unexpected)
    assert obtain(MODEL, tmp_path, (first, second), ignore).read_bytes() == BODY
    assert left_in(tmp_path) == {"tiny.gguf"}


def unexpected(target: Path) -> None:
    assert not target.exists(), "a source found what another had left"


def test_what_each_source_said_is_told_and_nothing_is_left(tmp_path: Path) -> None:
    sources = (
        Scripted(b"", ConnectionFaultError("no connection within 3 s"), "the hub"),
        Scripted(BODY, OSError(28, "No space left on device"), "the mirror"),
        Scripted(BODY[:-1] + b"x", name="the index"),
    )
    other = hashlib.sha256(BODY[:-1] + b"x").hexdigest()
    with pytest.raises(JudgeSetupError) as caught:
        obtain(MODEL, tmp_path, sources, ignore)
    assert caught.value.message == (
        "the model Tiny could not be fetched: the hub: no connection within 3 s; the mirror: No space left on device; "
        f"the index: the checksum is {other[:12]}…, not {MODEL.sha256[:12]}…"
    )
    assert MODEL.sha256 in str(caught.value.hint)
    assert left_in(tmp_path) == set()


def test_a_whole_file_asks_no_source_and_needs_no_writing(tmp_path: Path) -> None:
    (tmp_path / "tiny.gguf").write_bytes(BODY)
    source = Scripted()
    assert obtain(MODEL, tmp_path, (source,), ignore).read_bytes() == BODY
    assert source.asked == []
    assert {path.name for path in tmp_path.iterdir()} == {"tiny.gguf"}


@pytest.mark.parametrize("kept", [b"", BODY[:-1], BODY + b"x"])
def test_a_file_of_another_size_is_fetched_again(tmp_path: Path, kept: bytes) -> None:
    (tmp_path / "tiny.gguf").write_bytes(kept)
    assert obtain(MODEL, tmp_path, (Scripted(),), ignore).read_bytes() == BODY


@pytest.mark.parametrize("left", [BODY, BODY[:-1] + b"x", BODY[:7]])
def test_what_a_killed_process_left_is_not_trusted(tmp_path: Path, left: bytes) -> None:
    (tmp_path / "tiny.part").write_bytes(left)
    refusing = Scripted(b"", ConnectionFaultError("no"), before=unexpected)
    with pytest.raises(JudgeSetupError):
        obtain(MODEL, tmp_path, (refusing,), ignore)
    assert left_in(tmp_path) == set()


def test_a_small_disk_is_told_before_a_byte_is_asked_for(tmp_path: Path) -> None:
    source = Scripted()
    with pytest.raises(
        JudgeSetupError, match=r"cannot be kept in .*: 0\.6 GB are needed and 0\.1 GB are free"
    ) as caught:
        obtain(MODEL, tmp_path, (source,), ignore, lambda _: 123_456_789)
    assert "Free some space" in str(caught.value.hint)
    assert source.asked == []
    assert free_bytes(tmp_path) > 0


def test_what_a_killed_process_left_is_not_counted_as_taken(tmp_path: Path) -> None:
    (tmp_path / "tiny.part").write_bytes(b"x" * 1000)

    def free(folder: Path) -> int:
        assert not (folder / "tiny.part").exists()
        return 10**12

    obtain(MODEL, tmp_path, (Scripted(),), ignore, free)


def test_a_folder_that_cannot_be_one(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(JudgeSetupError, match="the model cannot be kept in"):
        obtain(MODEL, tmp_path / "file" / "models", (Scripted(),), ignore)


def test_one_of_several_at_once_fetches_and_the_others_see_how_it_gets_on(tmp_path: Path) -> None:
    waiting = threading.Event()
    source = Scripted(before=lambda _: waiting.wait(20) and None)

    def told(done: int, total: int) -> None:
        waiting.set()  # said by one that waits: the source itself says nothing before it

    with ThreadPoolExecutor(4) as pool:
        paths = list(pool.map(lambda _: obtain(MODEL, tmp_path, (source,), told), range(4)))
    assert len(source.asked) == 1
    assert {path.read_bytes() for path in paths} == {BODY}


class StoppedError(Exception):
    pass


def stop(done: int, total: int) -> None:
    raise StoppedError


def test_it_is_stopped_by_whoever_hears_of_it(tmp_path: Path) -> None:
    second = Scripted()
    with pytest.raises(StoppedError):
        obtain(MODEL, tmp_path, (Scripted(), second), stop)
    assert second.asked == []
    assert left_in(tmp_path) == set()
    assert obtain(MODEL, tmp_path, (Scripted(),), ignore).read_bytes() == BODY


def test_waiting_for_another_is_stopped_too(tmp_path: Path) -> None:
    with FileLock(tmp_path / "tiny.lock"), pytest.raises(StoppedError):
        obtain(MODEL, tmp_path, (Scripted(),), stop)
