"""The contract: its records, its strict YAML loader, and the linter that reads it before money is spent."""

from agentanvil.rubric.model import (
    CheckDimension,
    CheckSpec,
    Dimension,
    EvidenceMode,
    Exclusion,
    Overall,
    ReplyFormat,
    Rubric,
    Scale,
    Scope,
)

__all__ = [
    "CheckDimension",
    "CheckSpec",
    "Dimension",
    "EvidenceMode",
    "Exclusion",
    "Overall",
    "ReplyFormat",
    "Rubric",
    "Scale",
    "Scope",
]
