"""What batches refuse, and what they keep others from doing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agentanvil.errors import ConfigError, DatasetError, JudgeSetupError, RunFolderError, UsageError
from agentanvil.runner.exits import Exit
from agentanvil.runner.job import Surroundings
from agentanvil.runner.panel_settings import PanelSettings
from tests.fakes.batch_runs import KEY, KINDS, PRICES, BatchRuns, Kind
from tests.fakes.batch_servers import OpenAIBatchServer
from tests.fakes.runs import rows
from tests.fakes.server import Answer, Recorded, error
from tests.fakes.verdicts import CODE_RUBRIC, RUBRIC, write_rows


@pytest.fixture(params=KINDS, ids=lambda kind: kind.provider)
def kind(request: pytest.FixtureRequest) -> Kind:
    found: Kind = request.param
    return found


@pytest.fixture
def server() -> Iterator[OpenAIBatchServer]:
    with OpenAIBatchServer() as server:
        yield server


def test_rows_that_have_changed_since_are_refused(tmp_path: Path, server: OpenAIBatchServer) -> None:
    runs = BatchRuns(tmp_path, server)
    runs.submit()
    server.finish()
    write_rows(tmp_path, *rows(4))
    with pytest.raises(RunFolderError, match="data was"):
        runs.collect()
    write_rows(tmp_path, *rows(3))
    assert runs.collect().result.exit is Exit.OK


def test_a_rubric_that_has_changed_or_rows_that_are_gone_are_refused(tmp_path: Path, server: OpenAIBatchServer) -> None:
    runs = BatchRuns(tmp_path, server)
    runs.submit()
    runs.rubric.write_text(RUBRIC.replace("CALLS", "split"), encoding="utf-8")
    with pytest.raises(RunFolderError, match="rubric was"):
        runs.collect()
    runs.data.unlink()
    with pytest.raises(DatasetError):
        runs.collect()


def test_a_live_run_refuses_what_is_in_an_open_batch(tmp_path: Path, server: OpenAIBatchServer) -> None:
    runs = BatchRuns(tmp_path, server, *rows(4))
    runs.submit()
    with pytest.raises(RunFolderError, match="3 judge calls of this run are in an open batch"):
        runs.live()
    assert server.live == 1
    server.finish()
    runs.collect()
    assert runs.live().exit is Exit.OK
    assert server.live == 1


def test_other_repeats_wait_until_the_open_batches_are_collected(tmp_path: Path, server: OpenAIBatchServer) -> None:
    runs = BatchRuns(tmp_path, server)
    runs.submit()
    with pytest.raises(RunFolderError, match="other rows, repeats or calls"):
        runs.submit(repeats=2)
    server.finish()
    runs.collect()
    assert runs.submit(repeats=2).requests == 3


def test_what_a_batch_cannot_do_is_refused_before_anything_is_sent(tmp_path: Path, server: OpenAIBatchServer) -> None:
    runs = BatchRuns(tmp_path, server)
    with pytest.raises(UsageError, match="a batch asks one judge"):
        runs.submit(panel=PanelSettings(jury=("openai:n",)))
    with pytest.raises(UsageError, match="standard input"):
        runs.submit(data="-")
    with pytest.raises(UsageError, match="those of openai, openai-responses, anthropic can"):
        runs.submit(judge=f"compat:m@{server.url}")
    with pytest.raises(UsageError, match="batch-size"):
        runs.submit(most=0)
    runs.rubric.write_text(CODE_RUBRIC, encoding="utf-8")
    with pytest.raises(UsageError, match="nothing to submit"):
        runs.submit()
    assert (server.requests, runs.out.exists()) == ([], False)


def test_a_folder_without_a_submission_says_so(tmp_path: Path, server: OpenAIBatchServer) -> None:
    runs = BatchRuns(tmp_path, server)
    with pytest.raises(RunFolderError, match=r"no manifest\.json"):
        runs.status()
    runs.live()
    for verb in (runs.status, runs.collect, runs.cancel):
        with pytest.raises(RunFolderError, match="no batch was ever submitted"):
            verb()


def test_an_unknown_batch_is_no_lost_batch_until_it_is_given_up(tmp_path: Path, kind: Kind) -> None:
    with kind.server() as server:
        runs = BatchRuns(tmp_path, server, provider=kind.provider)
        runs.submit()
        server.batches.clear()
        for verb in (runs.status, runs.collect):
            with pytest.raises(JudgeSetupError, match="knows no batch batch_1"):
                verb()
        assert runs.cancel().batches == ()
        assert runs.submit().requests == 2


def test_a_judge_that_turns_everything_away_leaves_nothing_behind(tmp_path: Path, server: OpenAIBatchServer) -> None:
    server.refuse_create = error(401, "Incorrect API key provided: " + KEY, code="invalid_api_key")
    runs = BatchRuns(tmp_path, server)
    done = runs.submit()
    assert (done.exit, done.settled, done.requests) == (Exit.MISSING, 1, 0)
    assert done.problem is not None
    assert KEY not in str(done.problem)
    assert server.handed.total() == 0
    server.refuse_create = None
    assert runs.submit().requests == 2


def test_dollars_and_calls_are_limits_of_what_is_handed_over(tmp_path: Path, server: OpenAIBatchServer) -> None:
    runs = BatchRuns(tmp_path, server, *rows(5))
    done = runs.submit(max_calls=3)
    assert (done.settled, done.requests, done.held_back, done.exit) == (1, 2, 2, Exit.MISSING)
    with pytest.raises(ConfigError, match=r"--max-cost needs the price of openai:m.* in a batch"):
        runs.submit(max_cost=1.0)
    server.finish()
    runs.collect()
    # at most 100 tokens of reply at 25 dollars a million, beside what the prompt is estimated at
    assert runs.submit(max_cost=0.001, prices=PRICES, max_tokens=None).held_back == 2
    assert runs.submit(max_cost=10.0, prices=PRICES).requests == 2


def test_a_redirect_is_refused_and_the_key_is_in_no_file_and_no_message(tmp_path: Path, kind: Kind) -> None:
    with kind.server(lambda at: "rejected" if at == 0 else "") as server:
        runs = BatchRuns(tmp_path, server, provider=kind.provider)
        cache = str(tmp_path / "replies.sqlite")
        runs.submit(cache=cache)
        server.finish()
        whole = server.answer
        server._server._script = lambda _: Answer(302, headers={"Location": f"https://elsewhere.example/{KEY}"})
        for verb in (runs.status, runs.collect, runs.cancel):
            with pytest.raises(JudgeSetupError, match="redirects are refused") as refused:
                verb()
            assert KEY not in str(refused.value)
        server._server._script = whole
        runs.collect(cache=cache)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(KEY.encode() in path.read_bytes() for path in files)


def test_a_key_that_a_reply_echoes_is_kept_nowhere(tmp_path: Path, server: OpenAIBatchServer) -> None:
    runs = BatchRuns(tmp_path, server)
    runs.submit()
    server.finish()
    whole = server.answer

    def echo(request: Recorded) -> Answer:
        answer = whole(request)
        return answer.but(body=answer.body.replace(b"so it is", KEY.encode()))

    server._server._script = echo
    assert runs.collect(cache=str(tmp_path / "replies.sqlite")).result.exit is Exit.OK
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(KEY.encode() in path.read_bytes() for path in files)
    assert b"[redacted]" in (runs.out / "journal.jsonl").read_bytes()


def test_a_key_that_is_gone_is_asked_for_and_another_place_may_be_named(
    tmp_path: Path, server: OpenAIBatchServer
) -> None:
    runs = BatchRuns(tmp_path, server)
    runs.submit()
    server.finish()
    runs.around = Surroundings({"OTHER_KEY": KEY})
    with pytest.raises(JudgeSetupError, match="OPENAI_API_KEY is not set"):
        runs.collect()
    assert runs.collect(api_key_env="OTHER_KEY").result.exit is Exit.OK


def test_a_folder_can_neither_name_a_command_nor_let_code_run(tmp_path: Path, server: OpenAIBatchServer) -> None:
    runs = BatchRuns(tmp_path, server)
    runs.submit(api_key_command=f"echo {KEY}", allow_code=True)
    text = (runs.out / "batches.jsonl").read_text(encoding="utf-8")
    assert "echo" not in text
    assert "allow_code" not in text
