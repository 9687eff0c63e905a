"""Words that the linter knows, and how it compares texts: literal lists, English only.

A text in another language holds none of these words, so that it is never accused by mistake.
"""

from __future__ import annotations

import re

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


FILLERS = _set(
    "a an the of in on at to for from by with and or is are was were be been being has have had do does did whether if "
    "that which who what how when where it its their them they this these those as than then so such there response"
)
COUNTS = _set(
    "no none zero nothing one once two twice three four five six seven eight nine ten single exactly neither "
    "yes half third"
)
UNIVERSAL = _set("all every each any only both fully entirely completely totally wholly always never throughout not")
HEDGES = _set(
    "partially partly mostly somewhat fairly largely mainly generally reasonably slightly quite rather very moderately "
    "highly extremely sufficiently adequately relatively nearly almost barely really mildly broadly usually often "
    "sometimes some few several many minor major small big significant minimal"
)
CATEGORIES = _set(
    "correct incorrect right wrong true false answered complete incomplete addressed covered supported unsupported "
    "grounded error errors mistake mistakes issue issues problem problems flaw flaws gap gaps"
)
VAGUE = HEDGES | _set(
    "good bad better best worse worst great excellent outstanding exceptional superb perfect ideal poor weak strong "
    "solid fair average mediocre medium middling ok okay fine adequate inadequate acceptable unacceptable satisfactory "
    "unsatisfactory decent nice high low top bottom superior inferior terrible awful horrible amazing impressive "
    "useful useless helpful unhelpful clear unclear coherent incoherent relevant irrelevant accurate inaccurate "
    "appropriate inappropriate suitable reasonable unreasonable sensible effective ineffective professional thorough "
    "comprehensive detailed insightful thoughtful engaging natural fluent readable concise polite safe unsafe harmless "
    "harmful faithful unfaithful well badly poorly nicely clearly properly sound proper improper enough lacking bland "
    "limited positive negative standard expected normal basic typical neutral compelling convincing logical illogical "
    "consistent inconsistent reliable unreliable trustworthy written done lackluster exemplary stellar subpar middle"
)
GENERIC = _set(
    "response responses answer answers reply replies output outputs text quality level overall content work result "
    "results job performance way manner user users reader readers model assistant score scores general "
    "expectation expectations meets meet exceeds exceed aspects aspect respect respects terms standards needs "
    "improvement room very "
)
SAFETY = _set(
    "safety safe unsafe harm harms harmful harmless harmlessness toxicity toxic security secure privacy pii compliance "
    "compliant legal policy abuse hate violence danger dangerous"
)
YAML_1_1_BOOLEANS = _set("y n yes no on off")


def words(text: str) -> list[str]:
    """Return the words of a text in lower case; `sub-question` is one word."""
    return [word.replace("-", "").replace("’", "'") for word in _WORD.findall(text.lower())]


def content(text: str) -> frozenset[str]:
    """Return the stems of the words that carry meaning: what two texts must share to be about one matter."""
    return frozenset(_stem(word) for word in words(text) if word not in FILLERS)


def _stem(word: str) -> str:
    """Cut the commonest English endings: factual → fact, citations → citation, calling → call, cited → cit."""
    for ending in ("ly", "ual"):
        if word.endswith(ending) and len(word) > len(ending) + 3:
            word = word.removesuffix(ending)
    if word.endswith("ies") and len(word) > 4:
        word = f"{word.removesuffix('ies')}y"
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        word = word.removesuffix("s")
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            word = word.removesuffix(ending)
            break
    return word.removesuffix("e") if len(word) > 3 else word
