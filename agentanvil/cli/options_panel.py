"""Options that bring in further judges: a jury, a cross check, an escalation."""

from __future__ import annotations

from typing import Annotated

import typer

JudgesOption = Annotated[
    list[str] | None,
    typer.Option("--judge", metavar="JUDGE", help="PROVIDER:MODEL[@BASE_URL], or `local`; again for a jury."),
]
JuryOption = Annotated[
    str | None, typer.Option("--jury", metavar="RULE", help="Jury: median (default), mean, min or majority.")
]
QuorumOption = Annotated[
    int | None, typer.Option("--quorum", metavar="N", help="Jury: verdicts that one needs; more than half unless set.")
]
CrossJudgeOption = Annotated[
    str | None, typer.Option("--cross-judge", metavar="JUDGE", help="Check a sample of the rows with a second judge.")
]
CrossSampleOption = Annotated[
    float | None, typer.Option("--cross-sample", metavar="SHARE", help="Share of the rows to check; 0.2 unless set.")
]
EscalateToOption = Annotated[
    str | None, typer.Option("--escalate-to", metavar="JUDGE", help="Ask this judge where the first one is unsure.")
]
EscalateWhenOption = Annotated[
    str | None,
    typer.Option("--escalate-when", metavar="CONDITION", help="When it is; `entropy>0.6 or near_gate` unless set."),
]
EscalateShareOption = Annotated[
    float | None,
    typer.Option("--escalate-share", metavar="SHARE", help="Random share that is escalated too; 0.05 unless set."),
]
EscalateCostOption = Annotated[
    float | None, typer.Option("--escalate-max-cost", metavar="USD", help="What escalation may cost at most.")
]
AcceptOption = Annotated[
    bool, typer.Option("--accept-self-judging", help="Let a judge of the candidate's own family decide a gate.")
]
