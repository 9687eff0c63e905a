"""What a person should know before believing a win rate, as sentences."""

from __future__ import annotations

from agentanvil.aggregate.pair_summary import Pairwise
from agentanvil.aggregate.position import SIGNIFICANT
from agentanvil.stats import Estimate

# Below this, most of what the model would have written at that place is none of the answers.
LEAST_MASS = 0.5


def pair_notes(pairwise: Pairwise, *, gated: bool) -> list[str]:
    """Return the sentences; `gated`: the rubric has thresholds, which a comparison does not apply."""
    notes: list[str] = []
    position = position_note(pairwise)
    if position is not None:
        notes.append(position)
    if pairwise.orders == "fixed":
        notes.append("response_a always stood first, so what it won may be owed to its place: a diagnosis, no result")
    if pairwise.reading == "expected" and pairwise.expected.missing:
        notes.append(
            f"{pairwise.expected.missing} item(s) lack log-probabilities in some call and have no result: "
            "for --reading expected the judge's endpoint must return them"
        )
    mass = pairwise.preferences.label_mass.value
    if mass is not None and mass < LEAST_MASS:
        notes.append(
            f"only {mass:.0%} of the probability at the token of a verdict is on the answers on offer: the judge would "
            "have written something else there, so its preferences mean little"
        )
    if gated:
        notes.append("the rubric's gate is not applied: its thresholds are scores, and a comparison gives none")
    return notes


def position_note(pairwise: Pairwise) -> str | None:
    """Say that single verdicts measure the place, where they do, and what the other reading makes of it."""
    position = pairwise.position
    p_value, rate, interval = position.test.p_value, position.rate.value, position.interval
    if p_value is None or p_value >= SIGNIFICANT or rate is None or interval.low is None or interval.high is None:
        return None
    shown = "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}"
    note = (
        f"the judge picked the first response in {rate:.1%} of calls [{interval.low:.1%}, {interval.high:.1%}] "
        f"({shown}): single verdicts measure position"
    )
    if pairwise.orders != "both" or not pairwise.expected.rate.n:
        return note
    note += "; the combined preference over both orders cancels it"
    labels = pairwise.labels
    if labels is None:
        return note
    return (
        f"{note}, and is right in {_share(labels.expected.exact)} of the labelled items, "
        f"single verdicts in {_share(labels.calls.exact)}"
    )


def _share(estimate: Estimate) -> str:
    return "none" if estimate.value is None else f"{estimate.value:.1%}"
