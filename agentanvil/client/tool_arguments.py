"""The arguments of a forced tool call, as the JSON text that the model wrote."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import orjson

from agentanvil.client.envelope import write_as_written

Calls = Sequence[Mapping[str, object]]


def written_arguments(calls: Calls, as_written: Callable[[], Calls]) -> str:
    """Return the `arguments` of the calls, each on a line of its own, empty where there are none.

    They come as text, as text inside text (decoded once), or as an object; then `as_written` gives the same calls with
    repeated keys kept, so that a verdict given twice is seen. Raises MalformedBodyError for an endless nest.
    """
    if any(not isinstance(call.get("arguments") or "", str) for call in calls):
        calls = as_written()
    return "\n".join(_text(call["arguments"]) for call in calls if call.get("arguments") is not None)


def _text(value: object) -> str:
    if not isinstance(value, str):
        return write_as_written(value)
    if value.lstrip()[:1] == '"':
        try:
            inner = orjson.loads(value)
        except orjson.JSONDecodeError:
            return value
        return inner if isinstance(inner, str) else value
    return value
