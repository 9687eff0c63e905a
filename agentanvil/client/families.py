"""Which models are kin: judges favour responses of their own family, so that kinship has to be known.

A family is whoever trained the weights, told from the model's name alone. A name that says nothing belongs to no
family, and is kin to nobody; a model distilled from another's answers belongs to both families it names.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping

# Each word is looked up as a whole part of the name, a version may follow it: `qwen2.5` and `gpt-4o` do, `phind` does
# not belong to `phi`.
_NAMES: Mapping[str, str] = {
    "openai": r"openai|chatgpt|gpt(?!4all| (?:j|neo|neox|sw3)(?!\w))|davinci|o[1-9]",
    "anthropic": r"anthropic|claude",
    "google": r"google|gemini|gemma|palm|bison",
    "meta": r"meta llama|llama|codellama",
    "mistral": r"mistral|mixtral|mistralai|ministral|codestral|magistral|devstral|pixtral",
    "qwen": r"qwen|qwq|qvq",
    "deepseek": r"deepseek",
    "xai": r"grok|xai|x ai",
    "cohere": r"cohere|c4ai|aya|command (?:r|a|light|nightly)",
    "microsoft": r"phi|wizardlm",
    "amazon": r"amazon (?:nova|titan)|nova (?:micro|lite|pro|premier)|titan text",
    "zhipu": r"glm|chatglm",
    "moonshot": r"kimi|moonshot",
    "minimax": r"minimax",
    "nvidia": r"nemotron",
    "ibm": r"granite",
    "allenai": r"olmo|tulu",
    "tii": r"falcon",
    "tencent": r"hunyuan",
    "baidu": r"ernie",
    "ai21": r"jamba",
    "typesafe": r"jev",
}
_PATTERNS = tuple((family, re.compile(rf"(?<!\w)(?:{names})(?:\d\w*)?(?!\w)")) for family, names in _NAMES.items())
_SEPARATORS = re.compile(r"[^a-z0-9]+")
_LONGEST = 300
NO_FAMILY = "none"
"""What anvil.yaml says of a model that only sounds like one of a family."""


class Families:
    """Tells families from names. `given` is what anvil.yaml says: an exact name or a pattern with `*`, and its family.

    An exact name beats a pattern, and what is given beats the table.
    """

    def __init__(self, given: Mapping[str, str] | None = None) -> None:
        known = {name.casefold(): family for name, family in (given or {}).items()}
        self._exact = known
        self._globs = [(re.compile(fnmatch.translate(name)), family) for name, family in known.items() if "*" in name]

    def of(self, model: str) -> frozenset[str]:
        """Return the families that a model's name tells of, none for a name that is not known."""
        name = model[:_LONGEST].casefold()
        family = self._exact.get(name) or next((family for glob, family in self._globs if glob.match(name)), None)
        if family is not None:
            return frozenset() if family == NO_FAMILY else frozenset({family})
        return families(model)


def families(model: str) -> frozenset[str]:
    """Return the families that a model's name tells of by the table, none for a name that is not known.

    A fine-tuning or hosting provider's prefix (`ft:gpt-4o:acme`, `bedrock/us.anthropic.claude-…`) does not matter.
    """
    plain = _SEPARATORS.sub(" ", model[:_LONGEST].casefold()).strip()
    return frozenset(family for family, pattern in _PATTERNS if pattern.search(plain))
