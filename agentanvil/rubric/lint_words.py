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
    "that which who what how when where it its their them they this these those as than then so such there about "
    "response"
)
COUNTS = _set(
    "no none zero nothing one once two twice three four five six seven eight nine ten single exactly neither "
    "yes half third"
)
UNIVERSAL = _set("all every each any only both fully entirely completely totally wholly always never throughout not")
# `All are`, `none does`: an anchor may lean on its question, as long as it says how many.
QUANTIFIERS = _set("all every each any both only always never throughout")
HEDGES = _set(
    "partially partly mostly somewhat fairly largely mainly generally reasonably slightly quite rather very moderately "
    "highly extremely sufficiently adequately relatively nearly almost barely really mildly broadly usually often "
    "sometimes most some few several many minor major small big significant minimal"
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
    "consistent inconsistent reliable unreliable trustworthy written done lackluster exemplary stellar subpar middle "
    "lacks lack flawless confusing friendly structured organized organised easy hard satisfies satisfying satisfied"
)
GENERIC = _set(
    "response responses answer answers reply replies output outputs text quality level overall content work result "
    "results job performance way manner user users reader readers model assistant score scores general "
    "expectation expectations meets meet exceeds exceed aspects aspect respect respects terms standards needs "
    "improvement room very above below beyond could"
)
# They tell nothing beside a word of judgement: `addresses the question well`. Alone they may: `answers the question`.
OBJECTS = _set(
    "question questions request requests task tasks prompt prompts query topic subject address addresses addressing "
    "tone style wording structure language follow read understand "
    "covers provides provide gives give offers offer shows show demonstrates demonstrate displays makes information "
    "details detail explanation understanding knowledge ability"
)
SAFETY = _set(
    "safety safe unsafe harm harms harmed harmful harmless harmlessness toxicity toxic abuse hate violence danger "
    "dangerous"
)
# Only as a dimension's name: a question may well speak of the policy or the contract that an answer is about.
SAFETY_NAMES = SAFETY | _set("security secure privacy pii compliance compliant legal policy")
# Words that may surround what is counted without adding anything that only a reader could judge.
NEUTRAL = (
    FILLERS | COUNTS | UNIVERSAL | (GENERIC - _set("quality expectation expectations needs improvement standards"))
)
NEUTRAL |= _set(
    "agent bot email e-mail message letter summary translation comment review trace run final whole total long "
    "length short brief concise stay stays stayed keep keeps kept remain remains fit fits write writes written "
    "format formatted object document word words count limit can could must should will shall please exact string "
    "text phrase sentence term somewhere present appear appears anywhere least often contain contains contained "
    "include includes included mention mentions mentioned name names named state states stated give gives given "
    "show shows shown quote quotes quoted list lists listed cite cites cited carry carries repeat repeats "
    "repeated use uses used spell reply replies respond responds answer answers answered speak speaks phrased "
    "worded customer language take takes taken finish finishes finished cost costs spend spends make makes made "
    "need more less fewer than over under at most up above below between missing absent but there tool tools "
)
# `The right tool` names none: which one that is takes a judge.
NAMELESS = VAGUE - {"most"} | _set(
    "right wrong correct same other available necessary needed first any every each all which"
)
YAML_1_1_BOOLEANS = _set("y n yes no on off")

# Whatever a scope lists is about what these said or did, so that they tell no matter from another.
_SPEAKERS = _set("answer answers reply replies output outputs agent agents assistant assistants model models")
_SYNONYMS = {
    **dict.fromkeys(("accurac", "accurat", "accuracy", "truth", "tru", "truthful", "right"), "correct"),
    **dict.fromkeys(("choic", "chosen", "selection", "select", "pick", "picked"), "choos"),
    **dict.fromkeys(("courtesy", "courteou"), "polit"),
    **dict.fromkeys(("brevity", "brief", "short"), "concis"),
    **dict.fromkeys(("statement", "assertion"), "claim"),
    "formatt": "format",
}


def words(text: str) -> list[str]:
    """Return the words of a text in lower case; `sub-question` is one word, and `user's` is `user`."""
    plain = text.lower().replace("’", "'")
    return [word.replace("-", "").removesuffix("'s") for word in _WORD.findall(plain)]


def content(text: str) -> frozenset[str]:
    """Return the stems of the words that carry meaning: what two texts must share to be about one matter."""
    stems = (_stem(word) for word in words(text) if word not in FILLERS and word not in _SPEAKERS)
    return frozenset(_SYNONYMS.get(stem, stem) for stem in stems)


def _stem(word: str) -> str:
    """Cut the commonest English endings: factual → fact, citations → citation, calling → call, cited → cit."""
    for ending in ("ly", "ual", "ness"):
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


# Words that turn a matter into another one: `missing figures` is no part of what `figures` means as a matter.
ASPECTS = content(
    "missing omitted absent absence lacking unanswered order sequence count number choice length danger dangerous "
    "harmful cost speed time timing format outcome redundant unnecessary superfluous repeated wasted extra"
)
