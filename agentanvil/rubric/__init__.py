"""The contract: its records, its strict YAML loader, and the linter that reads it before money is spent."""

from agentanvil.rubric.findings import CODES, SEVERITIES, Code, Finding, Severity
from agentanvil.rubric.json_schema import SchemaFaultError, compile_schema
from agentanvil.rubric.lint import lint_rubric
from agentanvil.rubric.load import load_rubric, parse_rubric
from agentanvil.rubric.meaning import rubric_hash
from agentanvil.rubric.model import (
    OVERALL,
    CallMode,
    CheckDimension,
    CheckSpec,
    Dimension,
    EvidenceMode,
    Exclusion,
    Mode,
    Overall,
    ReplyFormat,
    Rubric,
    Scale,
    Scope,
)
from agentanvil.rubric.patterns import REGEX_FLAGS, PatternFaultError, compile_pattern

__all__ = [
    "CODES",
    "OVERALL",
    "REGEX_FLAGS",
    "SEVERITIES",
    "CallMode",
    "CheckDimension",
    "CheckSpec",
    "Code",
    "Dimension",
    "EvidenceMode",
    "Exclusion",
    "Finding",
    "Mode",
    "Overall",
    "PatternFaultError",
    "ReplyFormat",
    "Rubric",
    "Scale",
    "SchemaFaultError",
    "Scope",
    "Severity",
    "compile_pattern",
    "compile_schema",
    "lint_rubric",
    "load_rubric",
    "parse_rubric",
    "rubric_hash",
]
