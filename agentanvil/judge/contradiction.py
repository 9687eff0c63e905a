"""What a judge volunteers beside its scores. Code computes pass and overall; a judge that disagrees is noted.

A `pass` contradicts its dimension's score if the rubric's gate says otherwise; without a gate only the ends of the
scale settle it: the lowest score never passes, the highest never fails. An `overall` contradicts the scores if it is
not their minimum, where that is the rubric's rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentanvil.prompt import ContractDimension

CONTRADICTION = "contradiction"


def contradicts_pass(said: Mapping[str, object], score: int, dimension: ContractDimension) -> bool:
    """Tell whether the `pass` beside a score, if there is one, is not what code computes."""
    passed = said.get("pass")
    if not isinstance(passed, bool):
        return False
    if dimension.threshold is not None:
        return passed is not (score >= dimension.threshold)
    return score == (dimension.scores[0] if passed else dimension.scores[-1])


def contradicts_overall(said: Mapping[str, object], scores: Sequence[int]) -> bool:
    """Tell whether the `overall` beside the scores, if there is one, is not their minimum."""
    overall = said.get("overall")
    if isinstance(overall, bool) or not isinstance(overall, int | float) or not scores:
        return False
    return overall != min(scores)
