"""Judges of other packages: an installed distribution that offers one is all that it takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentanvil.client.providers import ENTRY_POINTS, ProviderRules, providers
from agentanvil.errors import ConfigError
from tests.fakes.command import ROOT, anvil
from tests.fakes.runs import read_table, rows
from tests.fakes.server import FakeServer
from tests.fakes.verdicts import graded, small_rubric, write_rows

ADAPTER = """
from agentanvil.client.chat_completions import ChatCompletions
from agentanvil.client.providers import ProviderRules


class Acme(ChatCompletions):
    @property
    def api(self):
        return "acme"

    def path(self, model):
        return f"/judges/{model}"

    def headers(self, key):
        return {"Content-Type": "application/json", "X-Acme-Key": key}


RULES = ProviderRules(model="a judge's number", adapter=Acme, takes_url=True, key_env="ACME_KEY", key_required=True)
"""


def install(folder: Path, package: str, name: str, target: str, source: str | None = None) -> Path:
    """Lay out what an installer would: the module, and the metadata that offers it under `name`."""
    info = folder / f"{package}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[{ENTRY_POINTS}]\n{name} = {target}\n", encoding="utf-8")
    if source is not None:
        (folder / f"{target.partition(':')[0]}.py").write_text(source, encoding="utf-8")
    return folder


def test_a_judge_of_another_package_grades_rows(tmp_path: Path) -> None:
    site = install(tmp_path / "site", "acme-judge", "acme", "acme_judge:RULES", ADAPTER)
    rubric, data = small_rubric(tmp_path), write_rows(tmp_path, *rows(2))
    environ = {"PYTHONPATH": f"{ROOT}:{site}", "ACME_KEY": "CANARY-9"}
    with FakeServer(graded) as server:
        judge = f"acme:7@{server.url}"
        ended = anvil(
            "grade", data, "--rubric", rubric, "--judge", judge, "--out", "run", cwd=tmp_path, environ=environ
        )
        assert ended.code == 0, ended.err
        assert {request.path for request in server.requests} == {"/v1/judges/7"}
        assert {request.headers["x-acme-key"] for request in server.requests} == {"CANARY-9"}
        keyless = anvil("grade", data, "--rubric", rubric, "--judge", judge, "--out", "run2", cwd=tmp_path)
    assert [row["score"] for row in read_table(tmp_path / "run", "scores.csv")] == ["4"] * 4
    assert keyless.code == 2
    assert "provider 'acme' is not known" in keyless.err


def test_a_broken_judge_of_another_package_is_one_clear_error(tmp_path: Path) -> None:
    site = install(tmp_path / "site", "acme-judge", "acme", "acme_judge:RULES", "raise OSError('no licence\\nhere')")
    environ = {"PYTHONPATH": f"{ROOT}:{site}"}
    ended = anvil("judge", "compat:m@http://127.0.0.1:1/v1", cwd=tmp_path, environ=environ)
    assert ended.code == 2
    assert "provider 'acme' of the installed package acme-judge cannot be loaded: OSError: no licence here" in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize(
    ("name", "target", "problem"),
    [
        pytest.param("openai", "json:dumps", "has a name that is built in", id="built-in"),
        pytest.param("acme", "json:dumps", "is not a ProviderRules but function", id="wrong-type"),
        pytest.param("acme", "json:nothing", "cannot be loaded: AttributeError", id="no-such-attribute"),
        pytest.param("acme", "no_such_module_here:R", "cannot be loaded: ModuleNotFoundError", id="no-such-module"),
    ],
)
def test_what_is_wrong_with_a_judge_of_another_package_is_said(
    name: str, target: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(install(tmp_path, "acme-judge", name, target))
    with pytest.raises(ConfigError, match=problem) as caught:
        providers.__wrapped__()
    assert "acme-judge" in str(caught.value)


def test_two_packages_cannot_offer_one_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("one", "two"):
        target = f"acme_{package}:RULES"
        monkeypatch.syspath_prepend(install(tmp_path / package, package, "acme", target, ADAPTER))
    with pytest.raises(ConfigError, match="has a name that another one offers as well"):
        providers.__wrapped__()


@pytest.mark.parametrize("name", providers())
def test_every_built_in_judge_can_be_made(name: str) -> None:
    rules = providers()[name]
    assert isinstance(rules, ProviderRules)
    if rules.adapter is not None:
        adapter = rules.adapter()
        assert adapter.rungs
        assert adapter.path("m").startswith("/")
        assert rules.base_url is None or rules.base_url.startswith("https://")
        assert "KEY-1" not in adapter.path("m")
        assert any("KEY-1" in value for value in adapter.headers("KEY-1").values())
        assert not any("None" in value for value in adapter.headers(None).values())
