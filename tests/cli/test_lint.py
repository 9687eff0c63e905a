"""`anvil lint` as a command: what it prints where, its one document, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

from tests.fakes.command import anvil
from tests.fakes.rubric_text import ANCHORS, judged, rubric_text

OWN = "scope: {{in: [{}], out: [{}]}}"


def scoped(dimension: str, inside: str, outside: str = "") -> str:
    return judged(dimension, more=f"anchors: {ANCHORS}, {OWN.format(inside, outside)}")


def written(folder: Path, **texts: str) -> list[Path]:
    files = [folder / f"{name}.yaml" for name in texts]
    for file, text in zip(files, texts.values(), strict=True):
        file.write_text(text, encoding="utf-8")
    return files


def test_four_faults_of_scope_have_four_codes(tmp_path: Path) -> None:
    files = written(
        tmp_path,
        overlapping=rubric_text(scoped("a", "figures"), scoped("b", "figures")),
        contradicting=rubric_text(scoped("a", "figures", "{what: figures, judged_by: b}"), judged("b")),
        decorated=rubric_text(scoped("a", "figures", "{what: tone}")),
        orphaned=rubric_text(scoped("a", "figures", "{what: tone, judged_by: style}"), judged("b")),
    )
    ended = anvil("lint", *files, "--format", "json", cwd=tmp_path)
    assert ended.code == 1
    assert ended.err == ""
    document = json.loads(ended.out)
    assert [result["file"] for result in document] == [str(file) for file in files]
    assert all(result["usable"] for result in document)
    found = [[one["code"] for one in result["findings"]] for result in document]
    assert found == [["R301"], ["R303"], ["R304"], ["R302"]]
    first = document[0]["findings"][0]
    assert first == {
        "code": "R301",
        "severity": "warning",
        "message": "`figures` of a and `figures` of b are one matter with two judges: one fault is then punished twice,"
        " and the scores rise and fall together.",
        "mend": "Give the matter to one of them and add `{what: ..., judged_by: ...}` to the other's `scope.out`.",
        "dimension": "b",
        "line": 6,
        "file": str(files[0]),
        "title": "scope-overlap",
    }


def test_a_person_reads_place_code_and_mending_and_a_clean_file_says_so(tmp_path: Path) -> None:
    bad, good = written(tmp_path, bad=rubric_text(extra="evidence: none"), good=rubric_text())
    ended = anvil("lint", bad, good, cwd=tmp_path)
    assert ended.code == 0
    assert ended.out.decode("utf-8").splitlines() == [
        (
            f"{bad}:4: R602 warning: `evidence: none`: a score without a quote cannot be checked, and an odd one"
            " cannot be explained."
        ),
        "  Write `evidence: quoted`, unless the saving matters more than the review.",
    ]
    assert ended.err == f"{good}: no findings\n"
    assert anvil("lint", bad, good, "--strict", cwd=tmp_path).code == 1


def test_a_file_that_cannot_be_used_exits_2_with_all_that_is_wrong(tmp_path: Path) -> None:
    (bad,) = written(tmp_path, bad=rubric_text(judged("Accuracy"), extra="rulez: [x]\nshap: 1"))
    ended = anvil("lint", bad, tmp_path / "absent.yaml", cwd=tmp_path)
    assert ended.code == 2
    lines = [line for line in ended.out.decode("utf-8").splitlines() if not line.startswith("  ")]
    places = [line.removeprefix(f"{bad}:").split(" error: ")[0] for line in lines[:-1]]
    assert places == ["4: R003", "5: R003", "7: R002"]
    assert lines[-1].startswith(f"{tmp_path / 'absent.yaml'}:1: R001 error: there is no such file: ")


def test_rows_are_read_with_data_and_map(tmp_path: Path) -> None:
    (rubric,) = written(tmp_path, rubric=rubric_text())
    data = tmp_path / "d.jsonl"
    data.write_text('{"id": 1, "prompt": "q", "response": "a", "labels": {"accuracy": 9}}\n', encoding="utf-8")
    ended = anvil("lint", rubric, "--data", data, "--map", "request=prompt", "--judge", "local", cwd=tmp_path)
    assert ended.code == 1
    assert f"{data}:1: D101 error [accuracy]: 1 row has a label for accuracy such as 9".encode() in ended.out
    refused = anvil("lint", rubric, "--data", data, cwd=tmp_path)
    assert (refused.code, refused.out) == (2, b"")
    assert "request" in refused.err


def test_explain_prints_an_entry_or_the_near_misses(tmp_path: Path) -> None:
    ended = anvil("lint", "--explain", "R301", cwd=tmp_path)
    assert ended.code == 0
    assert ended.out.decode("utf-8").startswith("R301 scope-overlap (warning)\n\n")
    as_json = anvil("lint", "--explain", "scope-overlap", "--format", "json", cwd=tmp_path)
    assert json.loads(as_json.out)["code"] == "R301"
    unknown = anvil("lint", "--explain", "R310", cwd=tmp_path)
    assert (unknown.code, unknown.out) == (2, b"")
    assert "R301 scope-overlap" in unknown.err
