"""What code can count or find, as people write it: one literal table, English only, the narrower pattern first."""

from __future__ import annotations

import re

_NUMERAL = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|forty|fifty|sixty|seventy"
    r"|eighty|ninety|(?:(?:a|one|two|three|five) )?hundred)"
)
_DIGITS = r"\d[\d,.]{0,12}"
_NUMBER = rf"(?:{_DIGITS}|{_NUMERAL})"
_AMOUNT = rf"(?:{_DIGITS}[ -]?|{_NUMERAL}[ -])"
_LIMIT = (
    r"(?<!\w)(?:at (?:the )?most|(?:no|not) (?:more|longer) than|more than|over|under|below|above|fewer than|less than"
    r"|shorter than|longer than|exceed(?:s|ing)?|within|up to|in|a maximum of|maximum|max\.?|limited to|exactly|only"
    r"|to|≤|<=|<|>)"
)
_UNITS = (
    ("max_words", r"words?"),
    ("max_chars", r"(?:characters?|chars?|letters)"),
    ("max_tokens", r"tokens?"),
    ("max_latency_ms", r"(?:ms|milliseconds?|s|secs?|seconds?|minutes?)"),
    ("max_cost_usd", r"(?:usd|dollars?|cents?)"),
    ("max_calls", r"(?:(?:tool|function|api)[ -])?calls"),
    ("regex", r"(?:bullet points?|bullets|lines|paragraphs)"),
)
_LANGUAGE = (
    r"(?:arabic|bengali|bulgarian|catalan|chinese|croatian|czech|danish|dutch|english|estonian|finnish|french|german"
    r"|greek|hebrew|hindi|hungarian|indonesian|italian|japanese|korean|latvian|lithuanian|malay|norwegian|persian"
    r"|polish|portuguese|romanian|russian|serbian|slovak|slovenian|spanish|swedish|tamil|thai|turkish|ukrainian|urdu"
    r"|vietnamese|welsh)"
)
_QUOTED = r"(?:\"[^\"]{1,80}\"|“[^”]{1,80}”|‘[^’]{1,80}’|(?<!\w)'[^']{1,80}'(?!\w)|`[^`]{1,80}`)"
_HAS = (
    r"(?:contain|include|mention|name|state|say|give|quote|show|list|cite|carry|carries|has|have|repeat|use|spell)"
    r"(?:s|d|ed)?"
)
_OBJECT = (
    r"(?:ticket|order|invoice|case|reference|tracking|phone|telephone|account|customer|booking|confirmation"
    r"|reservation|serial|contract|claim|isbn|iban|sku|zip|postal|request|incident|error)[ -]?(?:number|id|code)"
)
_CALL = r"\b(?:call|invok|us)(?:e|es|s|ed|ing)?"
_TOOL = (
    r"(?:(?:(?:the|an?|its) )?[`'\"]?\w[\w.-]{0,60}[`'\"]?(?: \w[\w-]{0,40})? (?:tool|function|api)\b|`\w[\w.-]{0,60}`)"
)
_TIMES = (
    r"(?:at most|(?:no|not) more than|more than|fewer than|less than|up to|only|exactly)"
    rf" (?:once|twice|{_NUMBER} times)"
)
_SOME_CALL = r"\b(?:no|any|every|all|each) (?:(?:tool|function|api) )?(?:calls?|steps?)"

TOOL_CHECKS = frozenset({"max_calls", "call_order", "must_not_call", "must_call"})

_TABLE: tuple[tuple[str, str], ...] = (
    *(
        (check, pattern)
        for check, unit in _UNITS
        for pattern in (
            rf"\b(?:between )?{_NUMBER} ?(?:and|to|–|-) ?{_AMOUNT}{unit}\b",
            rf"{_LIMIT} {_AMOUNT}{unit}\b",
            rf"\b{_AMOUNT}{unit} or (?:fewer|less|under|more|faster)\b",
            rf"\b{_AMOUNT}{unit} (?:limit|maximum|max|cap)\b",
        )
    ),
    ("max_words", rf"\bword count\b[^.,;?]{{0,12}}{_LIMIT} {_NUMBER}\b"),
    ("max_cost_usd", rf"{_LIMIT} (?:us)?\$ ?{_DIGITS}"),
    ("json_schema", r"\b(?:match|conform|follow|meet|valid|satisf)\w* (?:\w+ ){0,3}(?:json )?schema\b"),
    ("json_schema", r"\b(?:valid|well-?formed|parse?able|strict|pure|a single) json\b"),
    ("json_schema", r"\bjson\b[^.,;?]{0,12}\b(?:valid|well-?formed|parse?able|parses)\b"),
    ("json_schema", r"\b(?:pars(?:es?|ed|eable) as|in|be|is|are|as) (?:a )?json\b"),
    ("not_contains", rf"\b(?:avoid\w*|never|not|without|free of)\b[^.,;?]{{0,25}}{_QUOTED}"),
    ("regex", rf"\b(?:start|begin|end|open|close)s? (?:with|in|by)\b[^.,;?]{{0,20}}{_QUOTED}"),
    ("max_calls", rf"{_CALL} {_TOOL} {_TIMES}"),
    ("call_order", rf"{_CALL} {_TOOL} (?:before|after) (?:{_CALL} )?{_TOOL}"),
    ("must_not_call", rf"\b(?:never|not|avoid|without|refrain from)(?: ever)? {_CALL} {_TOOL}"),
    ("must_call", rf"{_CALL} {_TOOL}"),
    ("contains", rf"\b{_HAS}\b[^.,;?]{{0,25}}{_QUOTED}"),
    ("regex", rf"\b(?:{_OBJECT}|e-?mail address|web address|hyperlink|url|hashtag|emojis?)\b"),
    ("language", rf"\bin {_LANGUAGE}\b"),
    ("no_error_steps", rf"{_SOME_CALL} (?:succeeds?|fails?|failed|(?:return|end)s? (?:in |with )?an errors?)\b"),
    (
        "no_error_steps",
        r"\b(?:no|without(?: any)?) (?:failed (?:tool |function |api )?(?:calls?|steps?)|tool errors?)\b",
    ),
    ("numeric_range", rf"\b(?:number|value|integer|figure|percentage) between {_NUMBER} and {_NUMBER}\b"),
)
COUNTABLE: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (check, re.compile(pattern, re.IGNORECASE)) for check, pattern in _TABLE
)
