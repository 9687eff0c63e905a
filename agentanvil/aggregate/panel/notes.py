"""What a person should know before believing several judges, as sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agentanvil.aggregate.panel.summary import Escalation, JudgeAgreement, PanelSummary
from agentanvil.aggregate.wording import telling
from agentanvil.stats import ALPHA_BAR


def panel_notes(panel: PanelSummary) -> list[str]:
    """Return the notes on a panel, none where there is nothing to warn of."""
    notes = [
        f"{judge.judge} brought no verdict at all on {judge.items} item(s)"
        for judge in panel.judges
        if judge.states["judge_error"] and not judge.states["scored"] and not judge.states["not_applicable"]
    ]
    notes.extend(_on_agreement(panel.agreement))
    for agreement in panel.agreement:
        notes.extend(_on_mixed(agreement))
    if panel.escalation is not None:
        notes.extend(_on_budget(panel.escalation))
    return notes


def _on_agreement(agreements: Sequence[JudgeAgreement]) -> Iterator[str]:
    """Yield one note for the dimensions that are surely below the bar, one for those that may be."""
    for may in (False, True):
        found = [figures for one in agreements if (figures := _short_of_bar(one, may=may)) is not None]
        if found:
            yield (
                f"the judges {'may ' if may else ''}agree too little to conclude anything from {', '.join(found)}: "
                f"Krippendorff's alpha does not clear {ALPHA_BAR}, the least that is customary"
            )


def _short_of_bar(agreement: JudgeAgreement, *, may: bool) -> str | None:
    alpha, low, high = agreement.alpha.value, agreement.interval.low, agreement.interval.high
    if alpha is None or low is None or high is None or low >= ALPHA_BAR or (alpha >= ALPHA_BAR) != may:
        return None
    return f"{agreement.id} ({telling(alpha, ALPHA_BAR)} [{telling(low, ALPHA_BAR)}, {telling(high, ALPHA_BAR)}])"


def _on_mixed(agreement: JudgeAgreement) -> Iterator[str]:
    if agreement.mixed:
        yield (
            f"{agreement.id}: on {agreement.mixed} item(s) some judges scored and others said `not applicable`, "
            "so the dimension does not say clearly when it applies"
        )


def _on_budget(escalation: Escalation) -> Iterator[str]:
    left_out = sum(escalation.left_out.values())
    if left_out:
        yield f"{left_out} call(s) that should have gone to the second judge were not made, so the first one's stand"
