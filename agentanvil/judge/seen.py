"""Whether a dimension's evidence stands in what the judge was shown."""

from __future__ import annotations

import re

from agentanvil.judge.evidence import JudgedText, fold
from agentanvil.prompt import Material, TraceText
from agentanvil.rubric import EvidenceMode

# Named by a judge of a run beside its steps and the headings that the run shows.
_OTHER_PLACES = frozenset({"request", "source"})
_STEPS = re.compile(
    r"\bsteps\s*+#?[0-9]{1,9}+(?:\s*+(?:[,;&+/-]|to\b|through\b|and\b)\s*+(?:and\b\s*+)?(?:step\b\s*+)?#?[0-9]{1,9}+)*+"
    r"|\bstep\s*+#?[0-9]{1,9}+(?:\s*+-\s*+[0-9]{1,9}+)?+"
)
_DIGITS = re.compile(r"[0-9]+")


class Seen:
    """What one task showed its judge; texts are folded once for all dimensions."""

    __slots__ = ("_material", "_texts")

    def __init__(self, material: Material) -> None:
        self._material = material
        self._texts = [JudgedText((text, *material.source)) for text in material.texts]

    @property
    def slots(self) -> int:
        """How many responses were shown."""
        return len(self._texts)

    def holds(self, sides: tuple[tuple[str, ...], ...], evidence: EvidenceMode) -> bool | None:
        """Tell whether all evidence is there: each side's in the response of its slot, or in the source.

        None where there is nothing that it could be looked up in: a place in a text without numbered steps, and
        where no evidence is asked for.
        """
        if evidence == "quoted":
            return all(text.holds_all(quotes) for text, quotes in zip(self._texts, sides, strict=True))
        if evidence == "none":
            return None
        checked = [
            names_place(place, response)
            for response, places in zip(self._material.responses, sides, strict=True)
            if isinstance(response, TraceText)
            for place in places
        ]
        return all(checked) if checked else None


def names_place(place: str, run: TraceText) -> bool:
    """Tell whether a place names steps that a run has, or another place that it shows; `steps 3-5` names both ends."""
    words = fold(place)
    named = [int(number) for found in _STEPS.finditer(words) for number in _DIGITS.findall(found[0])]
    if named:
        return all(1 <= number <= run.steps for number in named)
    return any(re.search(rf"\b{re.escape(name)}\b", words) for name in run.places | _OTHER_PLACES)
