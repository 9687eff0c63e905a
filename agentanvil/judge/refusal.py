"""Judges that decline in words. A closed list, anchored at the start of the reply.

A pattern holds an apology or an inability *and* what the judge will not do, so that "I'm sorry, I can't find a second
source" or "I would rather not say" stay what they are: replies that cannot be read.
"""

from __future__ import annotations

import re

_DO = (
    "(?:assist|help|comply|rate|grade|score|judge|evaluate|assess|review|provide|fulfill?|complete|continue|proceed|"
    "engage|participate|respond|answer|process|discuss|do that|do this|support|create|generate|give|offer|share)"
)
_DOING = "(?:assisting|helping|rating|grading|scoring|judging|evaluating|assessing|providing|engaging)"
_SORRY = (
    r"(?:(?:(?:i'm|i am|we're|we are)(?: \w+)? sorry|sorry|i apologi[sz]e|my apologies|unfortunately|as an ai[\w ]*)"
    r"[,.:;!]? ?(?:but |however, )?)?"
)
_CANNOT = (
    r"(?:can ?not|can't|won't|will not|must not|am unable to|'m unable to|are unable to|am not able to|'m not able to|"
    r"are not able to|must decline to|have to decline to)"
)
_PATTERNS = (
    rf"{_SORRY}(?:i|we) ?{_CANNOT}(?: \w+)? {_DO}\b",
    rf"{_SORRY}(?:i|we)(?: must| have to)? (?:decline|refuse)\b",
    rf"{_SORRY}(?:i|we)(?: am|'m| are)? not comfortable (?:with )?{_DOING}\b",
    rf"{_SORRY}(?:i|we) (?:don't|do not) feel comfortable (?:with )?{_DOING}\b",
    # German
    (
        r"(?:(?:es )?tut mir leid|entschuldigung|leider)[,.!]? ?(?:aber )?"
        r"(?:(?:das|dabei|hierbei) )?(?:ich kann|kann ich)\b[^.!?]*\b(?:nicht|keine?n?)\b"
    ),
    r"(?:dabei|dazu|hierbei) kann ich (?:dir |ihnen )?(?:leider )?nicht\b",
    # French
    (
        r"(?:(?:je suis )?désolée?[,.!]? ?(?:mais )?|malheureusement,? )?je ne (?:peux|puis) pas (?:\w+ )?"
        r"(?:aider|répondre|évaluer|noter|fournir|continuer|traiter)\b"
    ),
    # Spanish and Portuguese
    r"(?:lo siento|lo lamento|desculpe|sinto muito)[,.!]? ?(?:pero |mas )?(?:no puedo|não posso)\b",
    r"(?:no puedo|não posso) (?:ayudar|ajudar|evaluar|avaliar|responder|proporcionar|fornecer)",
    # Italian
    r"(?:mi dispiace|spiacente)[,.!]? ?(?:ma )?non posso\b",
    # Russian
    r"(?:извините|простите|к сожалению)[,.!]? ?(?:но )?я не могу\b",
    # Chinese, Japanese, Korean
    r"(?:很|非常|十分)?(?:抱歉|对不起|對不起)[,。!、]? ?(?:但是?|不过)?(?:我|本人)?(?:不能|无法|無法|不可以)",
    r"申し訳(?:ありません|ございません)(?:が)?[,。、]? ?[^。]*(?:できません|いたしかね)",
    r"죄송(?:합니다|하지만|합니다만)[,.!]? ?[^.]*수 없",
)
_REFUSAL = re.compile("|".join(f"(?:{pattern})" for pattern in _PATTERNS), re.IGNORECASE)
_OPENING = 400
_FOLDS = str.maketrans({"’": "'", "，": ",", "！": "!"})


def is_refusal(text: str) -> bool:
    """Tell whether a reply without a verdict opens by declining to grade."""
    opening = " ".join(text[:_OPENING].translate(_FOLDS).split()).lstrip("*_#>\"'“ ")
    return _REFUSAL.match(opening) is not None
