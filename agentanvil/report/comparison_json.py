"""`comparison.json`: the comparison as it is, fields in their declared order."""

from __future__ import annotations

import orjson

from agentanvil.aggregate.comparison.tally import Comparison


def comparison_json(comparison: Comparison) -> bytes:
    """Return the comparison as indented JSON with a final line end; what is undefined is null with its reason."""
    return orjson.dumps(comparison, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
