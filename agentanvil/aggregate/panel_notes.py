"""What a person should know before believing several judges, as sentences."""

from __future__ import annotations

from collections.abc import Iterator

from agentanvil.aggregate.panel_summary import Escalation, JudgeAgreement, PanelSummary
from agentanvil.aggregate.wording import telling
from agentanvil.stats import ALPHA_BAR


def panel_notes(panel: PanelSummary) -> list[str]:
    """Return the notes on a panel, none where there is nothing to warn of."""
    notes = [
        f"{judge.judge} brought no verdict at all on {judge.items} item(s)"
        for judge in panel.judges
        if judge.items and not judge.states["scored"] and not judge.states["not_applicable"]
    ]
    for agreement in panel.agreement:
        notes.extend(_on_agreement(agreement))
    if panel.escalation is not None:
        notes.extend(_on_budget(panel.escalation))
    return notes


def _on_agreement(agreement: JudgeAgreement) -> Iterator[str]:
    alpha, low, high = agreement.alpha.value, agreement.interval.low, agreement.interval.high
    if alpha is not None and low is not None and high is not None and low < ALPHA_BAR:
        yield (
            f"{agreement.id}: the judges {'may ' if alpha >= ALPHA_BAR else ''}agree too little to conclude anything "
            f"from it: Krippendorff's alpha {telling(alpha, ALPHA_BAR)} [{telling(low, ALPHA_BAR)}, "
            f"{telling(high, ALPHA_BAR)}] does not clear {ALPHA_BAR}, the least that is customary"
        )
    if agreement.mixed:
        yield (
            f"{agreement.id}: on {agreement.mixed} item(s) some judges scored and others said `not applicable`, "
            "so the dimension does not say clearly when it applies"
        )


def _on_budget(escalation: Escalation) -> Iterator[str]:
    left_out = sum(escalation.left_out.values())
    if left_out:
        yield f"{left_out} call(s) that should have gone to the second judge were not made, so the first one's stand"
