"""What code can decide: deterministic checks, each a function of one row."""

from agentanvil.checks.runner import CHECKS, CheckRunner

__all__ = ["CHECKS", "CheckRunner"]
