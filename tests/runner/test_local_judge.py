from __future__ import annotations

from pathlib import Path

import pytest

from agentanvil.client.spec import JudgeSpec
from agentanvil.errors import UsageError
from agentanvil.runner.local_judge import model_label, name_judge
from agentanvil.runner.settings import JudgeSettings
from agentanvil.runner.stack import wire_of
from tests.fakes.llama import put_model


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
