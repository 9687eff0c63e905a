"""Which parameter of the request a provider refuses: told by name, or only in prose. Pure."""

from __future__ import annotations

import re

STRUCTURE = frozenset({"response_format", "tools"})
LOGPROBS = "logprobs"
EFFORT = "reasoning_effort"
"""What the ladder calls the amount of reasoning, whatever the API's own name for it is."""
CAPS = frozenset({"max_tokens", "max_completion_tokens"})
_CONTENT = frozenset({"messages", "input", "prompt", "contents", "content"})
_PARTS = {
    "tool_choice": "tools",
    "functions": "tools",
    "function_call": "tools",
    "json_schema": "response_format",
    "structured_outputs": "response_format",
    "guided_json": "response_format",
    "grammar": "response_format",
    "top_logprobs": LOGPROBS,
    "effort": EFFORT,
    "reasoning": EFFORT,
}
_ROOT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LOCATION = re.compile(r"""loc['"]?\s*[:=]\s*[(\[]\s*['"]body['"]\s*,\s*['"](\w+)""")
_NAME = re.compile(
    r"\b(?P<max_completion_tokens>max_completion_tokens)\b|\b(?P<max_tokens>max_tokens)\b"
    r"|\b(?P<temperature>temperature)\b|\b(?P<seed>seed)\b"
    r"|\b(?P<logprobs>(?:top_)?logprobs?|log[ -]?prob(?:abilitie)?s)\b"
    r"|\b(?P<tools>tools|tool[ _](?:use|choice|call(?:s|ing)?)|function[ _]call(?:s|ing)?)\b"
    r"|\b(?P<response_format>response[ _]formats?|json[ _](?:schema|mode|object)|structured[ _]outputs?|grammar)\b",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"not (?:\w+ )?(?:support|permit|allow|available|enabled|accept|valid|compatible|implemented)|unsupported"
    r"|unavailable|unrecogni[sz]ed|unknown|unexpected|extra (?:inputs|fields)|extra_forbidden|invalid|deprecated"
    r"|no longer|only the default|must be|cannot be|can't be|requires|incompatible|too (?:deep|complex|large)"
    r"|failed to (?:parse|convert|compile)|conversion failed|greater than max allowed",
    re.IGNORECASE,
)
_CERTAIN = re.compile(
    r"requires? --|failed to parse grammar|grammar|no endpoints found that (?:support|can handle)"
    r"|does not support|doesn't support|not supported|unsupported|not implemented",
    re.IGNORECASE,
)
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
    """Return the request-body name of the parameter that is refused, or None where it is not about one.

    `param` is what the provider blames by name; what lies inside a parameter (`tools[0].function`) counts as
    the whole. Without it the message must name a parameter that this program sends and say that it is not
    accepted; `certain_only` asks for wording that cannot mean anything else.
    """
    named = _root(param)
    if named == "model":
        return None
    if named in _CONTENT:
        return "response_format" if _needs_the_word_json(message) else None
    if named is not None:
        return named
    location = _LOCATION.search(message)
    if location is not None and location[1] not in _CONTENT:
        return _PARTS.get(location[1], location[1])
    if not (_CERTAIN if certain_only else _REFUSAL).search(message):
        return None
    match = _NAME.search(message)
    return match.lastgroup if match is not None else None


def blames_the_value(message: str) -> bool:
    """Tell whether a refusal is about a number being out of range rather than about the field itself."""
    return bool(_VALUE.search(message)) and not _FIELD.search(message)


def _root(param: str | None) -> str | None:
    match = _ROOT.match(param or "")
    return None if match is None else _PARTS.get(match[0], match[0])


def _needs_the_word_json(message: str) -> bool:
    return "json" in message.lower() and "response_format" in message
