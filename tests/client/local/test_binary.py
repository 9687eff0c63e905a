from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentanvil.client.local import ServerBinary, find_server
from agentanvil.client.local.binary import PACKAGE, package_folder
from agentanvil.errors import JudgeSetupError


def put(path: Path, mode: int = 0o755) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n", encoding="utf-8")
    path.chmod(mode)
    return path


def test_the_one_on_the_path_comes_first(tmp_path: Path) -> None:
    put(tmp_path / "package" / "bin" / "llama-server")
    second = put(tmp_path / "second" / "llama-server")
    first = put(tmp_path / "first" / "llama-server")
    search = os.pathsep.join(str(path.parent) for path in (first, second))
    assert find_server(search, lambda: tmp_path / "package") == ServerBinary(first)


@pytest.mark.parametrize("kind", ["folder", "no-program", "nothing"])
def test_what_cannot_be_run_is_passed_over(tmp_path: Path, kind: str) -> None:
    if kind == "folder":
        (tmp_path / "path" / "llama-server").mkdir(parents=True)
    elif kind == "no-program":
        put(tmp_path / "path" / "llama-server", 0o644)
    packaged = put(tmp_path / "package" / "bin" / "llama-server")
    found = find_server(str(tmp_path / "path"), lambda: tmp_path / "package")
    assert found == ServerBinary(packaged, packaged.parent)


def test_a_packaged_server_becomes_a_program(tmp_path: Path) -> None:
    packaged = put(tmp_path / "bin" / "llama-server", 0o644)
    assert find_server("", lambda: tmp_path).path == packaged
    assert os.access(packaged, os.X_OK)
    assert packaged.stat().st_mode & 0o777 == 0o755


class Sealed(type(Path())):  # type: ignore[misc]  # the class of paths on this system
    """A path on a file system that takes no change."""

    def chmod(self, mode: int, *, follow_symlinks: bool = True) -> None:
        raise PermissionError(1, "Operation not permitted")


def test_a_packaged_server_that_cannot_become_one_is_told(tmp_path: Path) -> None:
    packaged = put(tmp_path / "bin" / "llama-server", 0o644)
    with pytest.raises(JudgeSetupError, match=r"not marked as a program.*not permitted") as caught:
        find_server("", lambda: Sealed(tmp_path))
    assert caught.value.hint == f"Let its owner run: chmod +x {packaged}"


@pytest.mark.parametrize("package", [None, "empty"])
def test_none_at_all_is_one_sentence_and_how_to_get_one(tmp_path: Path, package: str | None) -> None:
    with pytest.raises(JudgeSetupError, match=r"needs llama-server .* there is none here") as caught:
        find_server(str(tmp_path), lambda: tmp_path / package if package else None)
    assert "agentanvil-judge[local]" in str(caught.value.hint)
    assert "--judge compat:" in str(caught.value.hint)


def test_the_package_is_found_without_being_imported() -> None:
    folder = package_folder()
    assert folder is None or folder.name == PACKAGE


@pytest.mark.parametrize(
    ("before", "after"),
    [({}, "/opt/bin"), ({"LD_LIBRARY_PATH": ""}, "/opt/bin"), ({"LD_LIBRARY_PATH": "/a"}, "/opt/bin:/a")],
)
def test_packaged_libraries_come_before_others(before: dict[str, str], after: str) -> None:
    packaged = ServerBinary(Path("/opt/bin/llama-server"), Path("/opt/bin"))
    assert packaged.environment({"HOME": "/h", **before}) == {"HOME": "/h", "LD_LIBRARY_PATH": after}
    assert ServerBinary(Path("/usr/bin/llama-server")).environment({"HOME": "/h", **before}) == {"HOME": "/h", **before}


def test_a_key_for_another_server_is_not_asked_for_by_this_one() -> None:
    for binary in (ServerBinary(Path("/usr/bin/llama-server")), ServerBinary(Path("/o/llama-server"), Path("/o"))):
        assert "LLAMA_API_KEY" not in binary.environment({"LLAMA_API_KEY": "secret", "LLAMA_ARG_THREADS": "2"})
        assert binary.environment({"LLAMA_ARG_THREADS": "2"})["LLAMA_ARG_THREADS"] == "2"
