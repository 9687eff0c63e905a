"""A model's family is told from its name; a name that says nothing is kin to nobody."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.client.families import Families, families


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("gpt-4o-mini", "openai"),
        ("GPT4", "openai"),
        ("chatgpt-4o-latest", "openai"),
        ("o3-mini", "openai"),
        ("o1", "openai"),
        ("ft:gpt-4o-2024-08-06:acme::id", "openai"),
        ("openrouter/openai/gpt-oss-20b", "openai"),
        ("text-davinci-003", "openai"),
        ("claude-sonnet-4-5", "anthropic"),
        ("bedrock/us.anthropic.claude-3-5-haiku-v1:0", "anthropic"),
        ("models/gemini-2.5-flash", "google"),
        ("gemma2:9b", "google"),
        ("text-bison", "google"),
        ("meta-llama/Llama-3.1-8B-Instruct", "meta"),
        ("ollama/llama3.2", "meta"),
        ("codellama-7b", "meta"),
        ("mistral-large-2411", "mistral"),
        ("Mixtral-8x7B", "mistral"),
        ("Qwen2.5-Coder-1.5B-Instruct Q4_K_M", "qwen"),
        ("QwQ-32B", "qwen"),
        ("deepseek-chat", "deepseek"),
        ("grok-4", "xai"),
        ("command-r-plus", "cohere"),
        ("phi-4", "microsoft"),
        ("Phi3.5", "microsoft"),
        ("amazon.nova-pro-v1:0", "amazon"),
        ("glm-4.5", "zhipu"),
        ("kimi-k2", "moonshot"),
    ],
)
def test_the_family_is_told_from_the_name(model: str, family: str) -> None:
    assert families(model) == {family}


@pytest.mark.parametrize(
    "model",
    [
        "",
        "my-model",
        "phind-34b",
        "ollama",
        "model-o",
        "foo1",
        "pro1",
        "system A",
        "baseline",
        "nova",
        "команда",
        "metal",
    ],
)
def test_a_name_that_says_nothing_is_of_no_family(model: str) -> None:
    assert families(model) == frozenset()


def test_a_distilled_model_is_kin_to_both() -> None:
    assert families("DeepSeek-R1-Distill-Qwen-7B") == {"deepseek", "qwen"}


@given(st.text(max_size=400))
def test_any_name_can_be_asked_about(model: str) -> None:
    assert isinstance(families(model), frozenset)


GIVEN = Families({"judge-prod": "openai", "acme-*": "acme", "acme-tuned-llama": "meta", "gpt-own": "none"})


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("judge-prod", {"openai"}),
        ("Judge-Prod", {"openai"}),
        ("judge-prod-2", set()),
        ("acme-7b", {"acme"}),
        ("ACME-gpt-4o", {"acme"}),
        ("acme-tuned-llama", {"meta"}),
        ("gpt-own", set()),
        ("gpt-4o", {"openai"}),
        ("x-acme-7b", set()),
    ],
)
def test_what_is_given_beats_the_table_and_an_exact_name_a_pattern(model: str, family: set[str]) -> None:
    assert GIVEN.of(model) == family


@given(st.dictionaries(st.text(max_size=60), st.text(max_size=9), max_size=5), st.text(max_size=400))
def test_any_pattern_can_be_given(given: dict[str, str], model: str) -> None:
    assert isinstance(Families(given).of(model), frozenset)


def test_a_hostile_pattern_takes_no_time() -> None:
    assert Families({"*a" * 100 + "b": "x"}).of("a" * 10_000) == frozenset()
