"""Results and summary → files. No arithmetic here; each writer escapes for its own format."""

from agentanvil.report.atomic import AtomicText
from agentanvil.report.csv_files import ITEM_COLUMNS, SCORE_COLUMNS
from agentanvil.report.frames import read_items, read_scores
from agentanvil.report.summary_json import summary_json
from agentanvil.report.writers import ReportWriters

__all__ = [
    "ITEM_COLUMNS",
    "SCORE_COLUMNS",
    "AtomicText",
    "ReportWriters",
    "read_items",
    "read_scores",
    "summary_json",
]
