from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.client.providers import providers
from agentanvil.client.secret import Secret
from agentanvil.client.spec import JudgeSpec, find_key, is_loopback, parse_judge
from agentanvil.errors import ConfigError, InputError, JudgeSetupError, UsageError


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("openai:gpt-4o", JudgeSpec("openai", "gpt-4o", "https://api.openai.com/v1")),
        ("openai:gpt-4o@https://eu.example/v1/", JudgeSpec("openai", "gpt-4o", "https://eu.example/v1")),
        ("openai:gpt-4o@https://eu.example/v1/responses", JudgeSpec("openai", "gpt-4o", "https://eu.example/v1")),
        ("openai-responses:gpt-6.2-sol", JudgeSpec("openai-responses", "gpt-6.2-sol", "https://api.openai.com/v1")),
        ("openrouter:vendor/m:free", JudgeSpec("openrouter", "vendor/m:free", "https://openrouter.ai/api/v1")),
        ("mistral:m", JudgeSpec("mistral", "m", "https://api.mistral.ai/v1")),
        ("compat:m@http://127.0.0.1:8000/v1", JudgeSpec("compat", "m", "http://127.0.0.1:8000/v1")),
        ("compat:qwen2.5:7b@http://localhost:11434/v1", JudgeSpec("compat", "qwen2.5:7b", "http://localhost:11434/v1")),
        ("compat:@cf/meta/llama@v2@https://h/v1", JudgeSpec("compat", "@cf/meta/llama@v2", "https://h/v1")),
        ("compat:m@HTTP://[::1]:80/v1", JudgeSpec("compat", "m", "http://[::1]:80/v1")),
        ("compat:m@http://127.0.0.1:1", JudgeSpec("compat", "m", "http://127.0.0.1:1")),
        ("compat:m@https://H.Example/v1/chat/completions", JudgeSpec("compat", "m", "https://h.example/v1")),
        ("local", JudgeSpec("local", "")),
        ("local:/models/a b.gguf", JudgeSpec("local", "/models/a b.gguf")),
        ("recorded:a@http://b.jsonl", JudgeSpec("recorded", "a@http://b.jsonl")),
    ],
)
def test_a_judge_is_read(text: str, spec: JudgeSpec) -> None:
    assert parse_judge(text) == spec


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("opnai:gpt-4o", "Did you mean openai?"),
        ("gpt-4o", "there are openai, "),
        ("", "not known"),
        ("openai", "needs a model name"),
        ("openai:", "nothing after the colon"),
        ("compat:m", "needs a base URL"),
        ("compat:m@127.0.0.1:8000/v1", "needs a base URL"),
        ("compat:m@ftp://h/v1", "needs a base URL"),
        ("compat:@http://127.0.0.1/v1", "needs a model name"),
        ("compat:m@http://", "names no host"),
        ("compat:m@http://127.0.0.1:99999/v1", "cannot be read"),
        ("compat:m@http://[::1/v1", "cannot be read"),
        ("compat:m@http://127.0.0.1/v1\nX-Evil: 1", "line break"),
        ("compat:m x@http://127.0.0.1/v1", "blank"),
        ("compat:m@http://judge.example/v1", "plain http"),
        ("compat:m@http://localhost.evil.example/v1", "plain http"),
        ("compat:m@http://127.0.0.1.nip.io/v1", "plain http"),
        ("recorded", "needs a file of replies"),
        ("recorded:", "nothing after the colon"),
    ],
)
def test_what_is_wrong_with_a_judge_is_said(text: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_judge(text)
    assert says in str(caught.value)
    assert caught.value.hint


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("compat:m@http://u:CANARY-2@127.0.0.1/v1?token=CANARY-3", id="O-H02"),
        "compat:m@https://CANARY-2@host/v1",
        "compat:m@https://:CANARY-2@host/v1",
        "compat:m@https://host/v1?api_key=CANARY-3",
        "compat:m@https://host/v1#CANARY-3",
        "compat:m@u:CANARY-2@host/v1",
        "compat:m@http://u:CANARY-2@https://host/v1",
        "compat:m@http://u:CANARY-2@[::1/v1",
        "https://u:CANARY-2@host/v1",
        "u@CANARY-2:m",
    ],
)
def test_credentials_in_an_address_are_refused_and_never_repeated(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_judge(text)
    assert "CANARY" not in str(caught.value)


def test_plain_http_elsewhere_can_be_allowed() -> None:
    spec = parse_judge("compat:m@http://judge.internal:8000/v1", allow_http=True)
    assert spec.base_url == "http://judge.internal:8000/v1"


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("LOCALHOST.", True),
        ("a.localhost", True),
        ("10.0.0.1", False),
        ("127.1", False),
        ("localhost.example", False),
    ],
)
def test_loopback_is_decided_by_the_name_alone(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


@given(
    st.text(max_size=60),
    st.sampled_from(["", "openai:", "compat:m@http://", "azure:d@https://r?api-version=", "local:", "recorded:"]),
)
def test_any_judge_is_read_or_refused(text: str, start: str) -> None:
    try:
        spec = parse_judge(start + text)
    except InputError:
        return
    assert spec.provider in providers()
    assert parse_judge(str(spec)) == spec


def test_a_key_comes_from_the_named_variable() -> None:
    spec = parse_judge("openai:m")
    environ = {"OPENAI_API_KEY": " sk-one\n", "OTHER": "sk-two"}
    first, second = find_key(spec, environ), find_key(spec, environ, "OTHER")
    assert first is not None
    assert second is not None
    assert (first.reveal(), second.reveal()) == ("sk-one", "sk-two")


def test_a_needed_key_that_is_absent_is_named() -> None:
    with pytest.raises(JudgeSetupError, match="OPENAI_API_KEY"):
        find_key(parse_judge("openai:m"), {"OPENAI_API_KEY": ""})
    compat = parse_judge("compat:m@http://127.0.0.1/v1")
    assert find_key(compat, {}) is None
    assert isinstance(find_key(compat, {"COMPAT_API_KEY": "k"}), Secret)
    with pytest.raises(JudgeSetupError, match="MY_KEY"):
        find_key(compat, {}, "MY_KEY")
    assert find_key(parse_judge("local"), {}) is None


@pytest.mark.parametrize("value", ["sk-\r\nX-Evil: 1", "sk-ü"])
def test_a_key_that_cannot_be_a_header_is_refused_without_showing_it(value: str) -> None:
    with pytest.raises(ConfigError) as caught:
        find_key(parse_judge("openai:m"), {"OPENAI_API_KEY": value})
    assert "sk-" not in str(caught.value)
