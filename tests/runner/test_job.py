"""What is settled before a call: which run it is, and how many rows it covers."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from agentanvil.runner.job import Surroundings, prepare
from tests.fakes.runs import Runs, recording, rows, verdict

JUDGE = "compat:m@http://127.0.0.1:1/v1"


def identity_of(runs: Runs, **changes: object) -> dict[str, str]:
    with prepare(runs.settings(**changes), Surroundings({})) as job:
        return job.identity.as_dict()


def test_limits_and_places_are_no_part_of_a_runs_identity(tmp_path: Path) -> None:
    runs = Runs(tmp_path, JUDGE)
    usual = identity_of(runs)
    changes = {
        "repeats": 3,
        "limit": 1,
        "concurrency": 2,
        "rpm": 60.0,
        "out": tmp_path / "x",
        "seed": 0,
        "timeout": 1.0,
    }
    for name, value in changes.items():
        assert identity_of(runs, **{name: value}) == usual


@pytest.mark.parametrize(
    ("change", "part"),
    [({"temperature": 0.0}, "temperature"), ({"max_tokens": 9}, "max_tokens"), ({"seed": 1}, "seed")],
)
def test_what_is_sent_is_part_of_it(tmp_path: Path, change: dict[str, object], part: str) -> None:
    runs = Runs(tmp_path, JUDGE)
    usual, other = identity_of(runs), identity_of(runs, **change)
    assert [name for name in usual if usual[name] != other[name]] == [part]


def test_a_recording_with_other_replies_is_another_judge(tmp_path: Path) -> None:
    runs = Runs(tmp_path, recording(tmp_path, {"id": "item-0", "reply": verdict(4)}))
    before = identity_of(runs)["judge"]
    assert identity_of(runs)["judge"] == before
    recording(tmp_path, {"id": "item-0", "reply": verdict(5)})
    after = identity_of(runs)["judge"]
    assert before != after
    assert before.startswith(f"{runs.judge} (")


@pytest.mark.parametrize(("limit", "covered"), [(None, 3), (1, 1), (3, 3), (99, 3)])
def test_a_limit_covers_the_first_rows(tmp_path: Path, limit: int | None, covered: int) -> None:
    runs = Runs(tmp_path, JUDGE)
    with prepare(runs.settings(limit=limit), Surroundings({})) as job:
        assert job.rows == covered
        for _ in range(2):
            assert [row.id for row in job.read_rows()] == [f"item-{n}" for n in range(covered)]


def test_standard_input_is_kept_for_as_long_as_the_job_lasts(tmp_path: Path) -> None:
    runs = Runs(tmp_path, JUDGE)
    stdin = io.BytesIO(runs.data.read_bytes())
    with prepare(runs.settings(data="-"), Surroundings({}, stdin)) as job:
        assert [row.id for row in job.read_rows()] == [row["id"] for row in rows(3)]
        assert job.dataset.path == "-"
        kept = job.dataset
    with pytest.raises(Exception, match="cannot be opened"):
        list(kept.rows())
