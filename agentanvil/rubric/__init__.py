"""The contract: its records, its strict YAML loader, and the linter that reads it before money is spent."""

from agentanvil.rubric.codes import SEVERITIES, Code, Severity
from agentanvil.rubric.findings import CODES, Finding, finding
from agentanvil.rubric.gate_terms import (
    GatedFigure,
    GateFault,
    GateTerms,
    gate_faults,
    gated_figures,
    idle_terms,
    term_faults,
)
from agentanvil.rubric.json_schema import SchemaFaultError, compile_schema
from agentanvil.rubric.lint import lint_rubric
from agentanvil.rubric.lint_document import Linted, lint_file, lint_text
from agentanvil.rubric.load import load_rubric, parse_rubric
from agentanvil.rubric.meaning import rubric_hash
from agentanvil.rubric.model import (
    OVERALL,
    BuiltInRule,
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
    "BuiltInRule",
    "CallMode",
    "CheckDimension",
    "CheckSpec",
    "Code",
    "Dimension",
    "EvidenceMode",
    "Exclusion",
    "Finding",
    "GateFault",
    "GateTerms",
    "GatedFigure",
    "Linted",
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
    "finding",
    "gate_faults",
    "gated_figures",
    "idle_terms",
    "lint_file",
    "lint_rubric",
    "lint_text",
    "load_rubric",
    "parse_rubric",
    "rubric_hash",
    "term_faults",
]
