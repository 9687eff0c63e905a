"""What cannot be used is refused before it costs anything, and leaves nothing behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentanvil.errors import (
    ConfigError,
    DatasetError,
    EndpointError,
    InputError,
    JudgeSetupError,
    RubricError,
    RunFolderError,
    UsageError,
)
from agentanvil.runner.events import RunStart
from agentanvil.runner.exits import Exit
from tests.fakes.runs import Collected, Runs, asked_about, rows
from tests.fakes.server import Answer, FakeServer, error, unused_port
from tests.fakes.verdicts import graded, refusing

MIXED_RUBRIC = """\
version: 1
id: mixed
scale: {min: 1, max: 5}
dimensions:
  - {id: short, check: {type: max_words, limit: 50}}
  - id: accuracy
    question: Is each claim true?
    anchors: {5: no error, 3: exactly one error, 1: two or more errors}
"""


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(graded) as server:
        yield server


def failing_on(number: str, answer: Answer) -> Any:
    return lambda request: answer if asked_about(request) == number else graded(request)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        pytest.param(error(401, "bad key", code="invalid_api_key"), "not authorised: .*bad key", id="O-F03-401"),
        pytest.param(error(403, "not allowed"), "not authorised", id="403"),
        pytest.param(error(404, "no such model", code="model_not_found"), "not found", id="404"),
        pytest.param(error(402, "pay first"), "pay first", id="402"),
        pytest.param(error(429, "no credit", code="insufficient_quota"), "no credit", id="429-that-no-wait-mends"),
        pytest.param(error(400, "strange"), "no request has passed yet", id="O-A33-every-request-refused"),
        pytest.param(Answer(302, headers={"Location": "http://127.0.0.1:1/"}), "302", id="O-H04-redirect"),
    ],
)
@pytest.mark.parametrize("rubric", ["judged", "with-checks"])
def test_a_judge_that_never_answers_is_a_matter_of_input(
    tmp_path: Path, answer: Answer, says: str, rubric: str
) -> None:
    with FakeServer(answer) as server:
        runs = Runs(tmp_path, server, *rows(8))
        if rubric == "with-checks":
            runs.rubric.write_text(MIXED_RUBRIC, encoding="utf-8")
        with pytest.raises(InputError, match=says) as caught:
            runs.grade(concurrency=2)
    assert not isinstance(caught.value, EndpointError)
    assert 1 <= len(server.requests) <= 4
    assert not runs.out.exists()


@pytest.mark.parametrize("how", ["unreachable", "wrong-key"])
def test_a_resumed_run_that_cannot_go_on_stays_as_it_was(tmp_path: Path, how: str) -> None:
    with FakeServer(graded) as server:
        runs = Runs(tmp_path, server)
        runs.grade(limit=2)
        before = {path.name: path.read_bytes() for path in runs.out.iterdir()}
        if how == "wrong-key":
            server._script = error(401, "bad key")
            with pytest.raises(JudgeSetupError, match="bad key"):
                runs.grade()
    if how == "unreachable":
        with pytest.raises(JudgeSetupError, match="connection refused"):
            runs.grade()
    assert {path.name: path.read_bytes() for path in runs.out.iterdir()} == before


@pytest.mark.parametrize("judge", ["unreachable", "no-key"])
def test_no_folder_is_left_where_none_was_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, judge: str
) -> None:
    monkeypatch.chdir(tmp_path)
    runs = Runs(tmp_path, f"compat:m@http://127.0.0.1:{unused_port()}/v1" if judge == "unreachable" else "openai:gpt")
    before = sorted(tmp_path.iterdir())
    listener = Collected()
    with pytest.raises(JudgeSetupError):
        runs.grade(listener, out=None)
    assert sorted(tmp_path.iterdir()) == before
    assert listener.starts == []
    assert listener.ends == 1


def test_o_c17_c18_another_rubric_data_or_judge_under_the_same_folder_is_refused(
    tmp_path: Path, server: FakeServer
) -> None:
    runs = Runs(tmp_path, server)
    runs.grade()
    before = {path.name: path.read_bytes() for path in runs.out.iterdir()}
    other_rubric, other_data = tmp_path / "other.yaml", tmp_path / "other.jsonl"
    other_rubric.write_text(
        runs.rubric.read_text(encoding="utf-8").replace("Is each claim true?", "Is each claim rude?"), encoding="utf-8"
    )
    other_data.write_text(runs.data.read_text(encoding="utf-8").replace("number 0", "number 1"), encoding="utf-8")
    changes: dict[str, dict[str, Any]] = {
        "rubric": {"rubric": str(other_rubric)},
        "data": {"data": str(other_data)},
        "judge": {"judge": runs.judge.replace("compat:m@", "compat:m2@")},
        "temperature": {"temperature": 0.5},
        "seed": {"seed": 3},
        "max_tokens": {"max_tokens": 100},
    }
    for name, change in changes.items():
        with pytest.raises(RunFolderError, match=f"other settings: {name} was .*, is now "):
            runs.grade(**change)
    assert len(server.requests) == 3
    assert {path.name: path.read_bytes() for path in runs.out.iterdir()} == before


def test_a_refused_default_is_left_out_and_said_and_a_refused_wish_ends_the_run(tmp_path: Path) -> None:
    with FakeServer(refusing("temperature")) as server:
        runs = Runs(tmp_path, server)
        result = runs.grade(concurrency=1)
        assert result.exit is Exit.OK
        assert len(server.requests) == 4
        assert runs.manifest()["judge"]["dropped"] == ["temperature"]
        assert "the judge does not take temperature, so it was asked without" in result.summary.notes
        asked = len(server.requests)
        for wish in ({"temperature": 0.0}, {"temperature": 0.7}):
            with pytest.raises(ConfigError, match="temperature, which was set on purpose"):
                runs.grade(out=tmp_path / "wish", concurrency=1, **wish)
            assert not (tmp_path / "wish").exists()
        assert len(server.requests) <= asked + 2


def test_a_seed_that_was_asked_for_is_a_wish_too(tmp_path: Path) -> None:
    with FakeServer(refusing("seed")) as server:
        runs = Runs(tmp_path, server)
        assert runs.grade().exit is Exit.OK
        with pytest.raises(ConfigError, match="seed, which was set on purpose"):
            runs.grade(out=tmp_path / "wish", seed=7)


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"judge": None}, UsageError),
        ({"judge": "gpt-4"}, UsageError),
        ({"rubric": "nowhere.yaml"}, RubricError),
        ({"data": "nowhere.jsonl"}, DatasetError),
        ({"mapping": ("response",)}, UsageError),
        ({"mapping": ("response=output.text",)}, DatasetError),
        ({"data": "-"}, UsageError),
        ({"max_cost": 1.0}, ConfigError),
        ({"api_key_env": "NO_SUCH_KEY"}, JudgeSetupError),
        ({"judge": "recorded:nowhere.jsonl"}, JudgeSetupError),
    ],
)
def test_what_cannot_be_used_is_refused_before_a_call(
    tmp_path: Path, server: FakeServer, change: dict[str, Any], kind: type[InputError]
) -> None:
    runs = Runs(tmp_path, server)
    with pytest.raises(kind):
        runs.grade(**change)
    assert server.requests == []
    assert not runs.out.exists()


def test_rows_that_change_under_a_run_end_it(tmp_path: Path, server: FakeServer) -> None:
    runs = Runs(tmp_path, server)

    class Meddler(Collected):
        def started(self, start: RunStart) -> None:
            runs.data.write_text('{"id":"x","request":"other","response":"row"}\n', encoding="utf-8")

    with pytest.raises(DatasetError, match="changed after it was validated"):
        runs.grade(Meddler())
    assert server.requests == []
    assert not runs.out.exists()
