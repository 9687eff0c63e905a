"""Results and summary → files. No arithmetic here; each writer escapes for its own format."""

from agentanvil.report.atomic import AtomicText
from agentanvil.report.baseline import read_baseline
from agentanvil.report.calibration_json import calibration_json
from agentanvil.report.csv_files import ITEM_COLUMNS, PAIR_COLUMNS, SCORE_COLUMNS
from agentanvil.report.failures import failure_lines, gate_failures
from agentanvil.report.frames import read_items, read_scores
from agentanvil.report.junit import Ended
from agentanvil.report.summary_json import summary_json
from agentanvil.report.writers import ReportWriters

__all__ = [
    "ITEM_COLUMNS",
    "PAIR_COLUMNS",
    "SCORE_COLUMNS",
    "AtomicText",
    "Ended",
    "ReportWriters",
    "calibration_json",
    "failure_lines",
    "gate_failures",
    "read_baseline",
    "read_items",
    "read_scores",
    "summary_json",
]
