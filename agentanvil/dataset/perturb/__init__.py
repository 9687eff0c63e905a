"""Rows changed on purpose, always in the same way: what a response says stays, one thing about it is another.

Every change is made of code alone, is the same on every machine, and touches nothing but the response.
"""

from agentanvil.dataset.perturb.formats import as_markdown, as_plain
from agentanvil.dataset.perturb.padding import padded
from agentanvil.dataset.perturb.planted import KINDS, PlantedKind, Wish, placebo, planted
from agentanvil.dataset.perturb.records import row_record
from agentanvil.dataset.perturb.refusals import Unchangeable, why_unchangeable

__all__ = [
    "KINDS",
    "PlantedKind",
    "Unchangeable",
    "Wish",
    "as_markdown",
    "as_plain",
    "padded",
    "placebo",
    "planted",
    "row_record",
    "why_unchangeable",
]
