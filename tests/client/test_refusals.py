"""Refusals in the words of each API, and the neutral parameter that they are about."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.client.refusals import CAPS, EFFORT, LOGPROBS, STRUCTURE, UNNAMED, blames_the_value, refused_parameter

SOMEHOW = "Not accepted."


@pytest.mark.parametrize(
    ("param", "named"),
    [
        ("temperature", "temperature"),
        ("max_tokens", "max_tokens"),
        ("max_completion_tokens", "max_completion_tokens"),
        ("max_output_tokens", "max_tokens"),
        ("generationConfig.maxOutputTokens", "max_tokens"),
        ("response_format", "response_format"),
        ("response_format.json_schema.schema", "response_format"),
        ("text.format.schema", "response_format"),
        ("text", "response_format"),
        ("output_config.format", "response_format"),
        ("generation_config.response_json_schema", "response_format"),
        ("generationConfig.responseMimeType", "response_format"),
        ("tools[0].function.parameters", "tools"),
        ("tools[0].parameters", "tools"),
        ("tool_choice", "tools"),
        ("toolConfig.functionCallingConfig", "tools"),
        ("reasoning_effort", EFFORT),
        ("reasoning.effort", EFFORT),
        ("reasoning", EFFORT),
        ("output_config.effort", EFFORT),
        ("generationConfig.thinkingConfig.thinkingLevel", EFFORT),
        ("logprobs", LOGPROBS),
        ("top_logprobs", LOGPROBS),
        ("include", LOGPROBS),
        ("include[0]", LOGPROBS),
        ("generation_config.response_logprobs", LOGPROBS),
        ("seed", "seed"),
        ("random_seed", "seed"),
        ("generationConfig.seed", "seed"),
        ("store", "store"),
        ("top_p", "top_p"),
        ("model", None),
        ("messages[1].content", None),
        ("input[0].content", None),
        ("instructions", None),
        ("contents[0].parts", None),
        ("systemInstruction.parts", None),
        ("", None),
        ("[0]", None),
    ],
)
def test_a_named_parameter_has_one_neutral_name(param: str, named: str | None) -> None:
    assert refused_parameter(SOMEHOW, param) == named


@pytest.mark.parametrize(
    ("message", "param", "named"),
    [
        (
            "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) is supported.",
            "temperature",
            "temperature",
        ),
        ("Unsupported parameter: 'temperature' is not supported with this model.", None, "temperature"),
        ("logprobs are not supported with reasoning models.", "include", LOGPROBS),
        ("logprobs are not supported with reasoning models.", None, LOGPROBS),
        ("This model does not support logprobs.", None, LOGPROBS),
        ("Unrecognized request argument supplied: reasoning_effort", None, EFFORT),
        ("Unsupported value: 'minimal' is not supported with this model.", "reasoning.effort", EFFORT),
        ("'response_format' is enabled only for api versions 2024-08-01-preview and later", None, "response_format"),
        (
            "Function tools with reasoning_effort are not supported for m in /v1/chat/completions.",
            "reasoning_effort",
            "tools",
        ),
        ("To use function tools, set reasoning_effort to 'none': they are not supported together.", None, "tools"),
        (
            "Response input messages must contain the word 'json' to use 'text.format' of type 'json_object'.",
            "input",
            "response_format",
        ),
        ("Invalid schema for response_format 'verdict'", None, "response_format"),
        ("Failed to initialize samplers: failed to parse grammar", None, "response_format"),
        ("No endpoints found that can handle the requested parameters.", None, UNNAMED),
        ("No endpoints found that support tool use", None, "tools"),
        ("output_config.effort: Input should be 'low'", None, EFFORT),
        ("messages.0.content: temperature is not supported", None, None),
        ("error: temperature is not supported", None, "temperature"),
        ("The year of the temperature record", None, None),
    ],
)
def test_prose_is_read_for_what_it_names(message: str, param: str | None, named: str | None) -> None:
    assert refused_parameter(message, param) == named


@pytest.mark.parametrize(
    ("message", "value"),
    [
        ("max_tokens is too large: 99999. This model supports at most 4096.", True),
        ("Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16", True),
        ("Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.", False),
        ("Unrecognized request argument supplied: max_completion_tokens", False),
    ],
)
def test_a_value_is_told_from_a_field(message: str, value: bool) -> None:
    assert blames_the_value(message) is value


@given(st.text(max_size=300), st.none() | st.text(max_size=300), st.booleans())
def test_any_refusal_is_read(message: str, param: str | None, certain: bool) -> None:
    named = refused_parameter(message, param, certain_only=certain)
    assert named is None or named


def test_what_the_ladder_knows_keeps_its_name() -> None:
    for name in STRUCTURE | CAPS | {LOGPROBS, EFFORT, "temperature", "seed"}:
        assert refused_parameter(SOMEHOW, name) == name
