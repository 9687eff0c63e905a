"""A key leaves anvil in one request header alone, whatever a server does with it, and whatever goes wrong."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from agentanvil.client.providers import providers
from agentanvil.errors import JudgeSetupError
from tests.fakes.command import ROOT, anvil
from tests.fakes.runs import Collected, Runs, rows
from tests.fakes.server import Answer, FakeServer, Recorded, answer_json, chat, error, redirect
from tests.fakes.verdicts import graded

KEY = "sk-canary/+7f3a9c51d0e2b846"
FORMS = (
    KEY,
    quote(KEY, safe=""),
    json.dumps(KEY)[1:-1].replace("/", "\\/"),
    base64.b64encode(KEY.encode()).decode().rstrip("="),
)
HOSTED = sorted(
    name for name, rules in providers().items() if rules.adapter is not None and rules.key_env and rules.takes_url
)


def good(request: Recorded) -> Answer:
    """A verdict for who asks for one as Chat Completions does; for all others an answer of a stranger."""
    return graded(request) if "response_format" in request.json else chat("no verdict")


def verdict_with(text: str) -> str:
    """A verdict whose every text holds the key."""
    one = {"evidence": [text], "reason": text, "score": 4}
    return json.dumps({"accuracy": one, "coverage": one})


def echoing(key: str) -> tuple[Callable[[Recorded], Answer], ...]:
    """Every way of failing that quotes the key, and some of succeeding with it."""
    said = f"not today: {key}; Bearer {key} ({quote(key, safe='')})"
    return (
        good,
        lambda request: error(400, said, code="bad", param=None),
        lambda request: error(429, said, headers={"Retry-After": "0"}),
        lambda request: error(500, said),
        lambda request: error(529, said, kind="overloaded_error"),
        lambda request: Answer(502, f"<html>{key}</html>".encode()),
        lambda request: Answer(200, f"no JSON, but {key}".encode()),
        lambda request: answer_json({"error": {"message": said, "type": "server_error"}}),
        lambda request: answer_json({"choices": [], "detail": said}),
        lambda request: chat(verdict_with(said)),
        lambda request: chat(said),
        lambda request: chat(f'{{"accuracy": "{key}"'),
        lambda request: chat(None, "stop", {"refusal": said}),
        lambda request: chat(key, "length"),
        lambda request: chat(key, "content_filter"),
        lambda request: chat("", "stop", {"reasoning_content": said}),
        lambda request: good(request).but(headers={"x-request-id": key, "Content-Type": "application/json"}),
        lambda request: Answer(reset=True),
        lambda request: chat(verdict_with(said)).but(cut_at=60),
    )


def ending(key: str) -> tuple[Answer, ...]:
    """Answers that end a run, each of which quotes the key."""
    return (
        error(401, f"Incorrect API key provided: {key}"),
        error(404, f"no model for {key}", code="model_not_found"),
        redirect(f"https://h.example/{quote(key, safe='')}?key={quote(key)}"),
    )


def leaks(folder: Path, *texts: bytes) -> list[str]:
    """Name what holds the key in any spelling."""
    files = {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    found = {**files, **{f"output {number}": text for number, text in enumerate(texts)}}
    assert len(files) > 4
    return [name for name, data in found.items() if any(form.encode() in data for form in FORMS)]


def settings(provider: str) -> dict[str, Any]:
    return {"evidence": "none", "mode": "gate"} if providers()[provider].decides else {}


@pytest.mark.parametrize("provider", HOSTED)
def test_no_file_and_no_message_holds_the_key_after_every_kind_of_failure(tmp_path: Path, provider: str) -> None:
    kinds = echoing(KEY)
    if providers()[provider].decides:  # nothing here is a whole answer in its contract
        kinds = kinds[2:7]
    with FakeServer(lambda request: kinds[request.index % len(kinds)](request)) as server:
        runs = Runs(tmp_path, f"{provider}:m@{server.url}", *rows(len(kinds)))
        said = Collected()
        ways = {"max_attempts": 2, "min_coverage": 0, "cache": str(tmp_path / "cache"), "concurrency": 4}
        environ = {str(providers()[provider].key_env): KEY}
        done = runs.grade(said, environ=environ, **ways, **settings(provider))
        assert done.ending == "complete", done.problem
        assert len(server.requests) > len(kinds)
        assert all(KEY in " ".join(request.headers.values()) for request in server.requests)
        assert not any(KEY.encode() in request.body or KEY in request.path for request in server.requests)
    assert leaks(tmp_path, str((done, said)).encode()) == []


@pytest.mark.parametrize("provider", HOSTED)
def test_nor_does_what_ends_a_run(tmp_path: Path, provider: str) -> None:
    for number, answer in enumerate(ending(KEY)):
        with FakeServer(answer) as server:
            runs = Runs(tmp_path, f"{provider}:m@{server.url}")
            environ = {str(providers()[provider].key_env): KEY}
            with pytest.raises(JudgeSetupError) as caught:
                runs.grade(environ=environ, out=tmp_path / f"run-{number}", **settings(provider))
        assert not any(form in f"{caught.value!r} {caught.value} {caught.value.hint}" for form in FORMS)


def test_no_output_of_the_command_holds_it(tmp_path: Path) -> None:
    kinds = echoing(KEY)
    with FakeServer(lambda request: kinds[request.index % len(kinds)](request)) as server:
        runs = Runs(tmp_path, server, *rows(len(kinds)))
        judge = ("--judge", runs.judge)
        ways = ("--max-attempts", "2", "--min-coverage", "0", "--cache", tmp_path / "cache", "--concurrency", "4")
        commands = (
            ("grade", runs.data, "--rubric", runs.rubric, *judge, "--out", "run", *ways),
            ("judge", runs.judge, "--format", "json"),
            ("show", runs.rubric, *judge),
        )
        ended = [anvil(*command, cwd=tmp_path, environ={"COMPAT_API_KEY": KEY}) for command in commands]
        assert ended[0].code == 0, ended[0].err
    assert leaks(tmp_path, *[text for done in ended for text in (done.out, done.err.encode())]) == []


BROKEN = """
from agentanvil.client.chat_completions import ChatCompletions
from agentanvil.client.providers import ProviderRules


class Broken(ChatCompletions):
    def read(self, reply, shape):
        raise RuntimeError(f"cannot read {reply.body!r}")


RULES = ProviderRules("a model", Broken, takes_url=True, key_env="BROKEN_API_KEY", key_required=True)
"""


def test_a_crash_leaves_a_report_without_the_key(tmp_path: Path) -> None:
    packages = tmp_path / "packages"
    info = packages / "broken-1.0.dist-info"
    info.mkdir(parents=True)
    (packages / "broken_judge.py").write_text(BROKEN, encoding="utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[agentanvil.judges]\nbroken = broken_judge:RULES\n", encoding="utf-8")
    with FakeServer(chat(f"the key is {KEY}")) as server:
        runs = Runs(tmp_path, server)
        done = anvil(
            *("grade", runs.data, "--rubric", runs.rubric, "--judge", f"broken:m@{server.url}", "--out", "run"),
            cwd=tmp_path,
            environ={"BROKEN_API_KEY": KEY, "PYTHONPATH": f"{ROOT}{os.pathsep}{packages}"},
        )
    assert done.code == 5, done.err
    (report,) = tmp_path.glob("anvil-crash-*.txt")
    assert "RuntimeError" in report.read_text(encoding="utf-8")
    assert leaks(tmp_path, done.out, done.err.encode()) == []
