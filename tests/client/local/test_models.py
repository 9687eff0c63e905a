from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.client.local import MODELS, OwnModel, named_file
from agentanvil.errors import UsageError
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
