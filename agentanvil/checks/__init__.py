"""What code can decide: deterministic checks, each a function of one row."""

from agentanvil.checks.item import Item
from agentanvil.checks.registry import CHECKS
from agentanvil.checks.runner import CheckRunner

__all__ = ["CHECKS", "CheckRunner", "Item"]
