"""What a judge volunteers beside its verdicts. Code computes pass and overall; a judge that disagrees is noted.

A `pass` contradicts its dimension's score if the rubric's gate says otherwise; without a gate only the ends of the
scale settle it: the lowest score never passes, the highest never fails. An `overall` contradicts the scores if it is
not their minimum, where that is the rubric's rule. In a gate a `pass` over all dimensions contradicts them if it is not
whether all of them pass. Who wins a comparison is asked for, and held against the verdicts where they are added up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentanvil.judge.verdicts import ParseFault, Verdict
from agentanvil.prompt import Contract, ContractDimension

CONTRADICTION = "contradiction"


def contradicts_pass(said: Mapping[str, object], score: int, dimension: ContractDimension) -> bool:
    """Tell whether the `pass` beside a score, if there is one, is not what code computes."""
    passed = said.get("pass")
    if not isinstance(passed, bool):
        return False
    if dimension.threshold is not None:
        return passed is not (score >= dimension.threshold)
    return score == (dimension.scores[0] if passed else dimension.scores[-1])


def contradicts_totals(
    found: Mapping[str, object], verdicts: Mapping[str, Verdict | ParseFault], contract: Contract
) -> tuple[str, ...]:
    """Return the flag for an object whose `overall`, or `pass` over all, is not what its verdicts come to."""
    if contract.mode == "pairwise" or ("overall" not in found and "pass" not in found):
        return ()
    scored = {d: v.score for d, v in verdicts.items() if isinstance(v, Verdict) and v.score is not None}
    if contract.mode == "gate":
        contradicted = contract.nested and _contradicts_gate(found, tuple(scored.values()))
    else:
        passes = contract.nested and _contradicts_pass_of_all(found, scored, contract)
        contradicted = passes or (contract.overall_rule == "min" and _contradicts_overall(found, [*scored.values()]))
    return (CONTRADICTION,) if contradicted else ()


def _contradicts_gate(found: Mapping[str, object], scores: Sequence[int]) -> bool:
    passed = found.get("pass")
    return bool(scores) and isinstance(passed, bool) and passed is not all(scores)


def _contradicts_pass_of_all(found: Mapping[str, object], scored: Mapping[str, int], contract: Contract) -> bool:
    """Tell whether a `pass` over all dimensions hides one that fails, or a failure names none that does."""
    verdicts = [contradicts_pass(found, scored[d.id], d) for d in contract.dimensions if d.id in scored]
    return bool(verdicts) and (any(verdicts) if found.get("pass") is True else all(verdicts))


def _contradicts_overall(found: Mapping[str, object], scores: Sequence[int]) -> bool:
    overall = found.get("overall")
    if isinstance(overall, bool) or not isinstance(overall, int | float) or not scores:
        return False
    return overall != min(scores)
