from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from agentanvil.client.local import MODELS
from agentanvil.client.spec import JudgeSpec
from agentanvil.errors import JudgeSetupError, RunFolderError, UsageError
from agentanvil.runner.events import Silent
from agentanvil.runner.exits import Exit
from agentanvil.runner.grade import GradeResult
from agentanvil.runner.job import Surroundings
from agentanvil.runner.judge import inspect_judge
from agentanvil.runner.local_judge import model_label, name_judge
from agentanvil.runner.settings import JudgeSettings
from agentanvil.runner.show import show
from agentanvil.runner.show_subject import ShowSettings
from agentanvil.runner.stack import wire_of
from tests.fakes.llama import Fake, put_llama, put_model
from tests.fakes.runs import Collected, Runs, rows

scripted = pytest.mark.skipif(os.name != "posix", reason="the fake server is a script")


@pytest.mark.parametrize(
    ("judge", "model", "name"),
    [
        ("local", None, "local"),
        ("local", "", "local"),
        ("local", "small", "local:small"),
        ("local", "/models/a b.gguf", "local:/models/a b.gguf"),
        ("local:small", "/models/a.gguf", "local:small"),
        ("local:/b.gguf", "/models/a.gguf", "local:/b.gguf"),
        ("compat:m@http://127.0.0.1:1/v1", "/models/a.gguf", "compat:m@http://127.0.0.1:1/v1"),
    ],
)
def test_a_model_that_the_environment_names_is_part_of_the_judges_name(
    judge: str, model: str | None, name: str
) -> None:
    environ = {} if model is None else {"ANVIL_LOCAL_MODEL": model}
    assert str(name_judge(JudgeSettings(judge), environ)) == name


def test_a_name_that_cannot_be_one() -> None:
    assert name_judge(JudgeSettings(), {"ANVIL_LOCAL_MODEL": "small"}) is None
    with pytest.raises(UsageError, match="unprintable"):
        name_judge(JudgeSettings("local"), {"ANVIL_LOCAL_MODEL": "a\nb"})


def test_each_model_has_a_label_of_its_own(tmp_path: Path) -> None:
    own = put_model(tmp_path)
    labels = [model_label(name) for name in ("", "small", str(own))]
    assert labels[:2] == [
        "Qwen2.5-Coder-1.5B-Instruct Q4_K_M cc324af070c2",
        "Qwen2.5-Coder-0.5B-Instruct Q4_K_M 1d9614638d18",
    ]
    assert labels[2].startswith("tiny.gguf ")
    assert model_label("default") == labels[0]
    put_model(tmp_path, content=b"other weights")
    assert model_label(str(own)) != labels[2]
    with pytest.raises(UsageError, match="there is no model file"):
        model_label(str(tmp_path / "none.gguf"))


def test_what_is_asked_names_the_model_and_no_port(tmp_path: Path) -> None:
    _, endpoint = wire_of(JudgeSpec("local", str(put_model(tmp_path))))
    assert (endpoint.base_url, endpoint.model) == ("local", model_label(str(tmp_path / "tiny.gguf")))


class Here:
    """Runs with a fake server and a tiny model, both of which the environment names."""

    def __init__(self, folder: Path, **how: Any) -> None:
        self.fake: Fake = put_llama(folder, **how)
        self.model = put_model(folder)
        self.runs = Runs(folder, "local", *rows(3))
        self.cache = str(folder / "cache.sqlite")

    @property
    def environ(self) -> dict[str, str]:
        return {**self.fake.environ, "ANVIL_LOCAL_MODEL": str(self.model)}

    def grade(self, out: str, listener: Collected | None = None, **changes: Any) -> GradeResult:
        chosen = {"environ": self.environ, "cache": self.cache, "concurrency": 2, **changes}
        return self.runs.grade(listener, out=self.runs.folder / out, **chosen)


@scripted
def test_a_run_starts_its_server_and_leaves_none(tmp_path: Path) -> None:
    here = Here(tmp_path)
    listener = Collected()
    result = here.grade("run", listener)
    assert (result.exit, result.tally.calls, result.tally.cost) == (Exit.OK, 3, 0.0)
    (start,) = here.fake.starts
    assert (start.option("--parallel"), start.option("--model")) == ("2", str(here.model))
    assert here.fake.all_gone(0)
    assert len(here.fake.asked) == 3
    assert {body["model"] for body in here.fake.asked} == {model_label(str(here.model))}
    assert result.manifest["identity"]["judge"].startswith(f"local:{here.model} (tiny.gguf ")
    assert set(listener.steps) <= {"server"}


@scripted
def test_what_the_cache_can_answer_starts_nothing(tmp_path: Path) -> None:
    here = Here(tmp_path)
    assert here.grade("first", limit=2).tally.calls == 2
    again = here.grade("second", limit=2)
    assert (again.exit, again.tally.calls, again.tally.cached, len(here.fake.starts)) == (Exit.OK, 0, 2, 1)
    (tmp_path / "elsewhere").mkdir()
    here.model = here.model.rename(tmp_path / "elsewhere" / "tiny.gguf")
    more = here.grade("third")
    assert (more.tally.calls, more.tally.cached) == (1, 2)
    first, second = here.fake.starts
    assert first.option("--port") != second.option("--port")


@scripted
def test_what_the_cache_can_answer_fetches_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")  # a fetch would fail
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:1")
    small = MODELS["small"]
    kept = tmp_path / "agentanvil" / "models" / small.file
    kept.parent.mkdir(parents=True)
    with kept.open("wb") as file:
        file.truncate(small.size)
    here = Here(tmp_path)
    usual = {"environ": here.fake.environ, "judge": "local:small"}
    assert here.grade("first", **usual).tally.calls == 3
    kept.unlink()
    listener = Collected()
    result = here.grade("second", listener, **usual)
    assert (result.exit, result.tally.calls, listener.steps) == (Exit.OK, 0, [])
    assert len(here.fake.starts) == 1


@scripted
def test_other_weights_under_the_same_name_are_another_judge(tmp_path: Path) -> None:
    here = Here(tmp_path)
    here.grade("run")
    put_model(tmp_path, content=b"trained further")
    with pytest.raises(RunFolderError, match="judge was local:"):
        here.grade("run")
    assert here.grade("other").tally.calls == 3


@scripted
@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"says": "error: invalid model", "exits": 1}, "llama-server did not start: .*error: invalid model"),
        ({"dies": "SIGILL"}, "instruction that this machine does not have"),
    ],
)
def test_a_server_that_does_not_start_leaves_no_run(tmp_path: Path, how: dict[str, Any], why: str) -> None:
    here = Here(tmp_path, **how)
    with pytest.raises(JudgeSetupError, match=why):
        here.grade("run")
    assert len(here.fake.starts) == 1
    assert not (tmp_path / "run").exists()


@scripted
def test_a_server_that_dies_in_mid_run_leaves_a_run_to_go_on_with(tmp_path: Path) -> None:
    here = Here(tmp_path, dies_at=2)
    result = here.grade("run", concurrency=1, cache="off", max_attempts=3)
    assert (result.exit, result.ending) == (Exit.MISSING, "stopped")
    assert "the local server is gone: it ended with 3" in str(result.problem)
    assert result.summary.coverage.covered == 4
    assert len(here.fake.asked) == 3
    assert here.grade("run", cache="off").exit is Exit.OK
    assert len(here.fake.asked) == 4


@scripted
@pytest.mark.parametrize("missing", ["none.gguf", "folder"])
def test_a_model_that_is_not_there_is_told_before_anything_starts(tmp_path: Path, missing: str) -> None:
    here = Here(tmp_path)
    (tmp_path / "folder").mkdir()
    for environ, judge in (
        ({**here.fake.environ, "ANVIL_LOCAL_MODEL": str(tmp_path / missing)}, "local"),
        (here.environ, f"local:{tmp_path / missing}"),
    ):
        with pytest.raises(UsageError, match=f"there is no model file .*{missing}"):
            here.grade("run", environ=environ, judge=judge)
    assert here.fake.starts == []
    assert not (tmp_path / "run").exists()


@scripted
def test_what_it_can_do_is_found_out(tmp_path: Path) -> None:
    here = Here(tmp_path)
    report = inspect_judge(JudgeSettings("local", concurrency=7), Surroundings(here.environ), Silent())
    assert report.usable
    assert (report.judge, report.url) == (f"local:{here.model}", None)
    assert (report.verdicts, report.schema_kept, report.same_reply, report.logprobs) == (2, 2, True, "yes")
    (start,) = here.fake.starts
    assert start.option("--parallel") == "1"
    assert here.fake.all_gone(0)


@scripted
def test_what_is_shown_is_what_is_asked(tmp_path: Path) -> None:
    here = Here(tmp_path)
    here.grade("run", concurrency=1)
    (shown,) = show(
        ShowSettings(str(here.runs.rubric), JudgeSettings("local", cache="off"), str(here.runs.data)),
        Surroundings(here.environ),
        Silent(),
    )
    assert json.loads(shown.body) == here.fake.asked[0]
