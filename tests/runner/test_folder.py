from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agentanvil.errors import RunFolderError
from agentanvil.runner.folder import (
    FORMAT,
    MANIFEST,
    Identity,
    RunFolder,
    read_manifest,
    refuse_foreign_folder,
    refuse_other_run,
    write_manifest,
)

IDENTITY = Identity(
    rubric="r1",
    data="d1",
    judge="compat:m@http://127.0.0.1:1/v1",
    mode="absolute",
    evidence="quoted",
    order="-",
    temperature="default",
    max_tokens="default",
    seed="0",
    prompt="1",
    code="-",
)
MANIFEST_OF_ONE = {"format": FORMAT, "identity": IDENTITY.as_dict()}
OUTCOME = b'{"journal":1}\n{"task":"a"}\n'


def test_one_run_has_its_folder_for_itself(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "run"
    with RunFolder(path) as folder:
        with pytest.raises(RunFolderError, match="another anvil process") as caught, RunFolder(path):
            pass
        assert caught.value.where is not None
        assert caught.value.where.file == str(path)
        assert folder.path.is_dir()
    with RunFolder(path):
        pass
    assert list(path.iterdir()) == []


def test_a_folder_begun_in_vain_goes_with_the_parents_it_needed(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "runs" / "a" / "b") as folder:
        write_manifest(folder.path, MANIFEST_OF_ONE)
        folder.journal.write_bytes(b'{"journal":1}\n')
        assert folder.is_unbegun()
        folder.take_back(None)
    assert list(tmp_path.iterdir()) == []


def test_a_parent_that_others_use_stays(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "runs" / "a") as folder:
        (tmp_path / "runs" / "b").mkdir()
        folder.take_back(None)
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["b"]


def test_a_folder_that_was_there_is_emptied_of_the_run_only(tmp_path: Path) -> None:
    with RunFolder(tmp_path) as folder:
        write_manifest(folder.path, MANIFEST_OF_ONE)
        folder.journal.write_bytes(b'{"journal":1}\n')
        folder.take_back(None)
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_was_there_gets_its_manifest_back(tmp_path: Path) -> None:
    write_manifest(tmp_path, MANIFEST_OF_ONE)
    with RunFolder(tmp_path) as folder:
        folder.journal.write_bytes(OUTCOME)
        write_manifest(tmp_path, MANIFEST_OF_ONE | {"state": "running"})
        assert not folder.is_unbegun()
        folder.take_back(MANIFEST_OF_ONE)
    assert read_manifest(tmp_path) == MANIFEST_OF_ONE
    assert folder.journal.read_bytes() == OUTCOME


def test_a_journal_with_an_outcome_makes_a_run(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "run") as folder:
        assert folder.is_unbegun()
        folder.journal.write_bytes(b'{"journal":1}\n')
        assert folder.is_unbegun()
        folder.journal.write_bytes(OUTCOME)
        assert not folder.is_unbegun()


@pytest.mark.parametrize("leftover", [".lock", f".{MANIFEST}.tmp", None])
def test_what_a_killed_start_leaves_is_no_obstacle(tmp_path: Path, leftover: str | None) -> None:
    if leftover:
        (tmp_path / leftover).touch()
    refuse_foreign_folder(tmp_path)
    refuse_foreign_folder(tmp_path / "none")


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(RunFolderError, match="not a run folder"):
        refuse_foreign_folder(tmp_path)
    with pytest.raises(RunFolderError, match="a file, not a folder"):
        refuse_foreign_folder(tmp_path / "thesis.tex")
    with pytest.raises(RunFolderError, match="cannot use this folder"), RunFolder(tmp_path / "thesis.tex"):
        pass


@pytest.mark.parametrize("use", [refuse_foreign_folder, read_manifest, lambda path: RunFolder(path).__enter__()])
def test_a_name_that_no_folder_can_have_is_told_as_such(tmp_path: Path, use: Callable[[Path], object]) -> None:
    with pytest.raises(RunFolderError, match="too long") as caught:
        use(tmp_path / ("x" * 300))
    assert caught.value.where is not None


def test_a_folder_cannot_be_made_below_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RunFolderError, match="cannot use this folder"), RunFolder(tmp_path / "file" / "run"):
        pass


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"format": 99}', '{"format": "1"}', "null"])
def test_a_manifest_that_cannot_be_read_is_told_with_its_place(tmp_path: Path, text: str) -> None:
    (tmp_path / MANIFEST).write_text(text, encoding="utf-8")
    with pytest.raises(RunFolderError) as caught:
        read_manifest(tmp_path)
    assert caught.value.where is not None
    assert caught.value.where.file == str(tmp_path / MANIFEST)


def test_a_folder_without_a_manifest_has_none(tmp_path: Path) -> None:
    assert read_manifest(tmp_path) is None
    assert read_manifest(tmp_path / "none") is None


@pytest.mark.parametrize("part", list(IDENTITY.as_dict()))
def test_another_run_is_refused_with_the_difference(tmp_path: Path, part: str) -> None:
    refuse_other_run(tmp_path, MANIFEST_OF_ONE, IDENTITY)
    other = replace(IDENTITY, **{part: "something else"})
    with pytest.raises(RunFolderError) as caught:
        refuse_other_run(tmp_path, MANIFEST_OF_ONE, other)
    assert f"{part} was {IDENTITY.as_dict()[part]}, is now something else" in caught.value.message


def test_every_difference_is_named(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match="rubric was r1, is now r2; data was d1, is now d2"):
        refuse_other_run(tmp_path, MANIFEST_OF_ONE, replace(IDENTITY, rubric="r2", data="d2"))
    with pytest.raises(RunFolderError, match="rubric was None"):
        refuse_other_run(tmp_path, {"format": FORMAT}, IDENTITY)
