"""`summary.json`: the summary as it is, fields in their declared order."""

from __future__ import annotations

import orjson

from agentanvil.aggregate import Summary


def summary_json(summary: Summary) -> bytes:
    """Return the summary as indented JSON with a final line end; what is undefined is null, never NaN."""
    return orjson.dumps(summary, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
