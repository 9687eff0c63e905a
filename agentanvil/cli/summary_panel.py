"""The part of the summary on standard error about several judges: each one alone, how far they agree, what it cost."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from agentanvil.aggregate import (
    Disagreement,
    Escalation,
    JudgeAgreement,
    PanelSummary,
    Summary,
    Usage,
)
from agentanvil.cli.output import visible
from agentanvil.cli.tables import cut, number, share, span, titled_table


def panel_blocks(summary: Summary) -> list[RenderableType]:
    """Return the blocks on several judges, none where there is one."""
    panel = summary.panel
    if panel is None:
        return []
    blocks: list[RenderableType] = [_judges(panel), _agreement(panel)]
    if any(judge.labels for judge in panel.judges):
        blocks.append(_labels(panel))
    differing = [(found.id, wide) for found in panel.agreement[:-1] for wide in found.widest]
    if differing:
        blocks.append(_differing(panel, differing))
    if panel.escalation is not None:
        blocks.append(Text("\n").join(Text(line) for line in _escalation(panel.escalation, summary)))
    return blocks


def _judges(panel: PanelSummary) -> Table:
    table = titled_table(
        _title(panel),
        ("", "right"),
        ("judge", "fold"),
        ("items", "right"),
        ("verdicts", "right"),
        ("missing", "right"),
        ("tokens in", "right"),
        ("tokens out", "right"),
        ("cost", "right"),
    )
    for place, judge in enumerate(panel.judges, 1):
        states = judge.states
        given = states["scored"] + states["not_applicable"]
        cells = (str(judge.items), str(given), str(sum(states.values()) - given), *_usage(judge.usage))
        table.add_row(str(place), Text(visible(judge.judge)), *cells)
    return table


def _title(panel: PanelSummary) -> str:
    if panel.role == "jury":
        return f"Jury: {panel.rule}, quorum {panel.quorum} of {len(panel.judges)}"
    if panel.role == "cross":
        return "Cross judge, who decides nothing"
    return "Second judge where the first was unsure"


def _usage(usage: Usage) -> tuple[str, str, str]:
    if not usage.exchanges:
        return "–", "–", "–"
    tokens = ["unknown" if count is None else f"{count:,}" for count in (usage.input_tokens, usage.output_tokens)]
    return tokens[0], tokens[1], _dollars(usage.cost)


def _labels(panel: PanelSummary) -> Table:
    table = titled_table("Each judge against human labels: exact (kappa)", ("dimension", "fold"))
    for place in range(1, len(panel.judges) + 1):
        table.add_column(f"judge {place}", justify="right", header_style="dim")
    names = dict.fromkeys(name for judge in panel.judges for name in judge.labels)
    for name in names:
        found = [judge.labels.get(name) for judge in panel.judges]
        cells = ["–" if one is None else f"{share(one.exact)} ({number(one.kappa)})" for one in found]
        table.add_row(name, *cells)
    return table


def _agreement(panel: PanelSummary) -> Table:
    over = "" if panel.agreement_over == "every item" else " on the random share alone"
    table = titled_table(
        f"How far the judges agree{over}",
        ("dimension", "fold"),
        ("items", "right"),
        ("alpha", "right"),
        ("95 % interval", "left"),
        ("level", "left"),
        ("judges", "left"),
        ("equal", "right"),
        ("difference", "right"),
    )
    for agreement in panel.agreement:
        for row in _pairs(agreement):
            table.add_row(*row)
    return table


def _pairs(agreement: JudgeAgreement) -> Iterator[tuple[str, ...]]:
    """Yield a line for each two judges; what concerns all of them stands in the first."""
    head: tuple[str, ...] = (
        agreement.id,
        str(agreement.alpha.n),
        number(agreement.alpha),
        span(agreement.interval),
        agreement.level,
    )
    places = _places(agreement)
    for pair in agreement.pairs:
        yield (
            *head,
            f"{places[pair.first]} and {places[pair.second]}",
            share(pair.exact),
            "–" if pair.difference.value is None else f"{pair.difference.value:+.2f}",
        )
        head = ("",) * len(head)


def _places(agreement: JudgeAgreement) -> dict[str, int]:
    """Return the numbers of the judges, from the first pairs, which are those of the first judge."""
    first = agreement.pairs[0].first
    names = [first, *(pair.second for pair in agreement.pairs if pair.first == first)]
    return {name: place for place, name in enumerate(names, 1)}


def _differing(panel: PanelSummary, differing: list[tuple[str, Disagreement]]) -> Table:
    table = titled_table("Where they differ most", ("dimension", "left"), ("id", "left"))
    for place in range(1, len(panel.judges) + 1):
        table.add_column(f"judge {place}", justify="right", header_style="dim", no_wrap=True)
    for dimension, item in differing:
        scores = ["–" if score is None else f"{score:.3g}" for score in item.scores.values()]
        table.add_row(dimension, Text(cut(item.id, 40)), *scores)
    return table


def _escalation(found: Escalation, summary: Summary) -> Iterator[str]:
    asked = sum(found.items.values())
    reasons = ", ".join(f"{n} {reason}" for reason, n in found.items.items() if n and reason != "share")
    random = f"{found.drawn} of them in the random share"
    yield f"second judge: asked about {asked} item(s) ({'; '.join(filter(None, (reasons, random)))})"
    yield (
        f"it decided {found.replaced} verdict(s): {found.changed} otherwise than the first, "
        f"{found.filled} where the first had none{_otherwise(found, summary)}"
    )
    yield (
        f"first judge {_dollars(found.first_cost)} · second {_dollars(found.second_cost)} · "
        f"the second about everything {_about(found.everything_cost)}{_saved(found.saved)}"
    )


def _otherwise(found: Escalation, summary: Summary) -> str:
    """Return how many items were decided otherwise; nothing where there is no winner and no gate to decide."""
    if summary.pairwise is not None:
        return f"; {found.decided_otherwise} item(s) have another winner"
    return "" if summary.gate.verdict == "none" else f"; {found.decided_otherwise} item(s) pass or fail otherwise"


def _saved(saved: float | None) -> str:
    if saved is None:
        return ""
    return f", so {_dollars(saved)} were saved" if saved >= 0 else f", {_dollars(-saved)} less than both"


def _about(cost: float | None) -> str:
    return "unknown" if cost is None else f"some {_dollars(cost)}"


def _dollars(cost: float | None) -> str:
    return "unknown" if cost is None else f"${cost:.4f}"
