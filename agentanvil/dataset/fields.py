"""The fields of a row: which names mean what, and which unknown name is probably a slip of the pen."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from functools import lru_cache
from itertools import takewhile

from agentanvil.dataset.faults import FieldError, listed
from agentanvil.dataset.fieldmap import OBJECT_FIELDS, OWN_FIELDS, PAIR_FIELDS, spell_key
from agentanvil.errors import quoted

# Names under which datasets keep the answer that the judge must not see. They stay readable for checks.
HIDDEN_FIELDS = frozenset(
    {
        "correct_answer", "expected", "expected_answer", "expected_output", "expected_response", "gold",
        "gold_answer", "gold_response", "golden", "golden_answer", "ground_truth", "ideal", "reference",
        "reference_answer", "reference_answers", "reference_output", "references", "target",
    }
)  # fmt: skip

_ALIASES = {
    "id": ("uid", "idx", "index", "item_id", "question_id", "task_id", "custom_id", "key"),
    "request": ("prompt", "question", "instruction", "query", "input", "messages", "turns"),
    "response": ("output", "answer", "completion", "prediction", "generation", "reply", "choices"),
    "source": ("context", "contexts", "document", "documents", "passages", "docs"),
}
_NOT_A_NAME = re.compile(r"\W+")
_ORDINARY_WORDS = frozenset({"mode", "beta", "zeta", "meat", "metal"})


@lru_cache(maxsize=1024)
def near_miss(key: str, fields: tuple[str, ...] = OWN_FIELDS) -> str | None:
    """Return the field that `key` is one slip away from: case, spaces, or one letter more, less, other or
    swapped; a key such as `labels.tone`, which JSON writes as an object, counts as its first part.

    One slip, and no looser measure: `resource`, `levels` or `source_id` are names of their own.
    """
    plain = key.strip().casefold()
    if plain in _ORDINARY_WORDS or key in OWN_FIELDS or key in PAIR_FIELDS:
        return None
    for field in fields[1:]:
        word = plain.partition(".")[0] if field in OBJECT_FIELDS else plain
        if _one_slip(word, field):
            return field
    return None


def misspelt(key: str, field: str) -> FieldError:
    """Return the fault of an unknown key that looks like `field`, which the row does not have."""
    name = _NOT_A_NAME.sub("_", key)
    return FieldError(
        key,
        f"unknown field; did you mean `{field}`?",
        f"rename it, or keep it as it is with --map 'meta.{name}={spell_key(key)}'",
    )


def missing(field: str, keys: Iterable[str]) -> FieldError:
    """Return the fault of a row without `field`, with the key that it probably goes by."""
    keys = list(keys)
    message = f"missing; the row has {listed(keys)}"
    if field == "response" and "response_a" in keys:
        return FieldError(field, message, "rows with two responses are compared with --mode pairwise")
    if field in ("response_a", "response_b") and "response" in keys:
        return FieldError(field, message, "give the file with the other responses: --vs OTHER.jsonl")
    others = [key for key in keys if key not in OWN_FIELDS and key not in PAIR_FIELDS and key not in HIDDEN_FIELDS]
    close = [alias for alias in _ALIASES.get(field, ()) if alias in others] or get_close_matches(field, others, n=1)
    if not close:
        return FieldError(field, message, f"name the path that holds it with --map {field}=PATH")
    return FieldError(
        field, f"{message}; did you mean {quoted(close[0])}?", f"rename it, or --map '{field}={spell_key(close[0])}'"
    )


def _one_slip(word: str, field: str) -> bool:
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(word, field, strict=False)))
    a, b = word[shared:], field[shared:]
    if a[1:] == b or a == b[1:] or a[1:] == b[1:]:
        return True
    return a[:2] == b[1::-1] and a[2:] == b[2:]
