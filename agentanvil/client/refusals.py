"""Which parameter of the request a provider refuses: told by name, or only in prose. Pure.

Each API has names of its own; what comes out is the neutral one that the ladder knows.
"""

from __future__ import annotations

import re

STRUCTURE = frozenset({"response_format", "tools"})
LOGPROBS = "logprobs"
EFFORT = "reasoning_effort"
"""What the ladder calls the amount of reasoning, whatever the API's own name for it is."""
CAPS = frozenset({"max_tokens", "max_completion_tokens"})
UNNAMED = "one of the parameters"
"""Some parameter is refused, and the refusal does not say which."""
_CONTENT = frozenset({"messages", "input", "prompt", "contents", "content", "instructions", "system", "state"})
_HOLDERS = frozenset({"body", "config", "generate_content_request", "generation_config", "output_config", "text"})
_NEUTRAL = {
    **dict.fromkeys(
        (
            "response_format",
            "json_schema",
            "structured_outputs",
            "guided_json",
            "grammar",
            "format",
            "text",
            "output_config",
            "output_format",
            "response_schema",
            "response_json_schema",
            "response_mime_type",
        ),
        "response_format",
    ),
    **dict.fromkeys(
        (
            "tools",
            "tool_choice",
            "tool_config",
            "functions",
            "function_call",
            "function_calling_config",
            "function_declarations",
        ),
        "tools",
    ),
    **dict.fromkeys(("logprobs", "top_logprobs", "response_logprobs", "include"), LOGPROBS),
    **dict.fromkeys(
        (EFFORT, "effort", "reasoning", "thinking", "thinking_config", "thinking_level", "thinking_budget"), EFFORT
    ),
    **dict.fromkeys(("max_tokens", "max_output_tokens"), "max_tokens"),
    **dict.fromkeys(("seed", "random_seed"), "seed"),
    "max_completion_tokens": "max_completion_tokens",
    "temperature": "temperature",
    "model": "model",
    "system_instruction": "system",
}
_STEP = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LEADING_PATH = re.compile(r"([A-Za-z_]+(?:\.\w+(?:\[\w*\])?)*): ")
_LOCATION = re.compile(r"""loc['"]?\s*[:=]\s*[(\[]\s*['"]body['"]\s*,\s*['"](\w+)""")
_NAME = re.compile(
    r"\b(?P<max_completion_tokens>max_completion_tokens)\b|\b(?P<max_tokens>max_(?:output_)?tokens|maxOutputTokens)\b"
    r"|\b(?P<temperature>temperature)\b|\b(?P<seed>(?:random_)?seed)\b"
    r"|\b(?P<logprobs>(?:top_|response_?)?log_?probs?|log[ -]?prob(?:abilitie)?s)\b"
    r"|\b(?P<tools>tools|tool[ _]?(?:use|choice|config|call(?:s|ing)?)|function[ _]call(?:s|ing)?"
    r"|function_?declarations)\b"
    r"|\b(?P<reasoning_effort>(?:reasoning[ _.]?)?effort|thinking[ _]?(?:level|budget|config))\b"
    r"|\b(?P<response_format>(?:response|output)[ _]formats?|json[ _](?:schema|mode|object)|structured[ _]outputs?"
    r"|grammar|response_?(?:json_?)?schema|response_?mime_?type|schemas?)\b",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"not (?:\w+ )?(?:support|permit|allow|available|enabled|accept|valid|compatible|implemented)|unsupported"
    r"|unavailable|unrecogni[sz]ed|unknown|unexpected|extra (?:inputs|fields)|extra_forbidden|invalid|deprecated"
    r"|no longer|only the default|enabled only|may only be|must be|cannot be|can't be|requires|incompatible"
    r"|too (?:deep|complex|large|many)|failed to (?:parse|convert|compile)|conversion failed|greater than max allowed"
    r"|exceeds? the max|supported range",
    re.IGNORECASE,
)
_CERTAIN = re.compile(
    r"requires? --|failed to parse grammar|grammar|no endpoints found that (?:support|can handle)"
    r"|does not support|doesn't support|not supported|unsupported|not implemented",
    re.IGNORECASE,
)
_UNNAMED = re.compile(r"no endpoints found that can handle the requested parameters", re.IGNORECASE)
_TOOLS_WITH_EFFORT = re.compile(r"\bfunction tools\b", re.IGNORECASE)
_VALUE = re.compile(
    r"too (?:large|small|high|low|big)|at (?:most|least)|greater|less than|between|range|maximum|minimum|exceed"
    r"|must be",
    re.IGNORECASE,
)
_FIELD = re.compile(
    r"not (?:\w+ )?(?:support|permit|allow|accept)|unsupported|unrecogni[sz]ed|unknown|unexpected|extra|deprecated"
    r"|\buse\b|instead",
    re.IGNORECASE,
)


def refused_parameter(message: str, param: str | None, *, certain_only: bool = False) -> str | None:
    """Return the neutral name of the parameter that is refused, or None where it is not about one.

    `param` is what the provider blames by name; what lies inside a parameter (`tools[0].function`) counts as
    the whole, and one that this program never sends keeps its name. Without it the message must begin with the
    parameter's path, or name one that this program sends and say that it is not accepted; `certain_only` asks for
    wording that cannot mean anything else.
    """
    named = _neutral(param or "") or _named_first(message)
    if named == "model":
        return None
    if named in _CONTENT:
        return "response_format" if _needs_the_word_json(message) else None
    if named is None:
        named = _named_in_prose(message, certain_only=certain_only)
    # tools and reasoning together: no effort was sent, the model reasons unasked, so it is the tools that must go
    return "tools" if named == EFFORT and _TOOLS_WITH_EFFORT.search(message) else named


def blames_the_value(message: str) -> bool:
    """Tell whether a refusal is about a number being out of range rather than about the field itself."""
    return bool(_VALUE.search(message)) and not _FIELD.search(message)


def _named_first(message: str) -> str | None:
    """Return the parameter whose path opens the message (`output_config.format.schema: …`), if it is one of ours."""
    path = _LEADING_PATH.match(message)
    named = _neutral(path[1]) if path is not None else None
    return named if named in _CONTENT or named in _NEUTRAL.values() else None


def _named_in_prose(message: str, *, certain_only: bool) -> str | None:
    location = _LOCATION.search(message)
    if location is not None and location[1] not in _CONTENT:
        return _neutral(location[1])
    if _UNNAMED.search(message):
        return UNNAMED
    if not _CERTAIN.search(message) and (certain_only or not _REFUSAL.search(message)):
        return None
    match = _NAME.search(message)
    return match.lastgroup if match is not None else None


def _neutral(path: str) -> str | None:
    """Return the neutral name of what a path such as `generationConfig.seed` or `tools[0].function` leads to."""
    steps = [_HUMP.sub("_", step).lower() for step in _STEP.findall(path[:200])]
    while len(steps) > 1 and steps[0] in _HOLDERS:
        del steps[0]
    if not steps or steps[0] in _HOLDERS - _NEUTRAL.keys():
        return None
    return _NEUTRAL.get(steps[0], steps[0])


def _needs_the_word_json(message: str) -> bool:
    return "json" in message.lower() and ("response_format" in message or "text.format" in message)
