"""`calibration.json`: the calibration as it is, fields in their declared order."""

from __future__ import annotations

import orjson

from agentanvil.aggregate import CalibrationReport


def calibration_json(report: CalibrationReport) -> bytes:
    """Return the report as indented JSON with a final line end; what is undefined is null, never NaN."""
    return orjson.dumps(report, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
