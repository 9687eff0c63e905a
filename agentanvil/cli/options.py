"""Options that several verbs share, each defined once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agentanvil.errors import UsageError

DATA = typer.Argument(metavar="DATA", help="JSONL or CSV with the rows, or agent traces; - for standard input.")
JudgeOption = Annotated[
    str | None,
    typer.Option("--judge", metavar="JUDGE", help="PROVIDER:MODEL[@BASE_URL]; `local` for the built-in model."),
]
RubricOption = Annotated[Path | None, typer.Option("--rubric", metavar="FILE", help="The rubric (YAML).")]
ModeOption = Annotated[
    str | None, typer.Option("--mode", metavar="MODE", help="absolute, pairwise or gate; else what the rubric says.")
]
OrderOption = Annotated[
    str | None,
    typer.Option(
        "--order", metavar="ORDER", help="Pairs: random (default; both for judges that decide), both, or fixed."
    ),
]
VsOption = Annotated[
    list[str] | None,
    typer.Option("--vs", metavar="OTHER", help="Pairs: compare with the responses of this file, joined by id."),
]
CallsOption = Annotated[
    str | None,
    typer.Option("--calls", metavar="WAY", help="joint, split, or both to compare them; else what the rubric says."),
]
MapOption = Annotated[
    list[str] | None,
    typer.Option("--map", metavar="FIELD=PATH", help="Read a field from another place, e.g. response=output.text."),
]
CacheOption = Annotated[
    str | None, typer.Option("--cache", metavar="PATH|off", help="Reply cache; a file of its own, or off.")
]
TemperatureOption = Annotated[
    float | None,
    typer.Option("--temperature", metavar="T", help="Sampling temperature; 0 unless set.", show_default=False),
]
MaxTokensOption = Annotated[int | None, typer.Option("--max-tokens", metavar="N", help="Cap on a reply's tokens.")]
EffortOption = Annotated[
    str | None,
    typer.Option("--effort", metavar="LEVEL", help="How much a reasoning judge may think, in its own words."),
]
EvidenceOption = Annotated[
    str | None,
    typer.Option("--evidence", metavar="KIND", help="quoted, pinpoint or none; else what the rubric says."),
]
SeedOption = Annotated[
    int | None, typer.Option("--seed", metavar="N", help="Seed sent with the calls and used for intervals.")
]
TimeoutOption = Annotated[float | None, typer.Option("--timeout", metavar="S", help="Seconds for one attempt in all.")]
KeyOption = Annotated[
    str | None, typer.Option("--api-key-env", metavar="NAME", help="Environment variable that holds the key.")
]
KeyCommandOption = Annotated[
    str | None, typer.Option("--api-key-command", metavar="COMMAND", help="A command that prints the key.")
]
AllowHttpOption = Annotated[
    bool | None, typer.Option("--allow-http", help="Allow plain http to other machines.", show_default=False)
]
CalibrationOption = Annotated[
    Path | None,
    typer.Option("--calibration", metavar="FILE", help="Let the gate pass only by a judge that this file trusts."),
]
ConfidenceOption = Annotated[
    float | None,
    typer.Option("--confidence", metavar="P", help="Decide the gate on intervals of this confidence, e.g. 0.95."),
]
TableOption = Annotated[
    str | None,
    typer.Option("--format", metavar="table|json", help="A table to be read, or JSON on standard output."),
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Errors only.")]


def parse_format(value: str | None, choices: tuple[str, ...]) -> str:
    """Return the chosen output format. Raises UsageError for any other."""
    chosen = value or choices[0]
    if chosen not in choices:
        raise UsageError(f"--format is one of {', '.join(choices)}, not {chosen!r}")
    return chosen
