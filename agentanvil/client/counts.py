"""Token counts as a provider reports them."""

from __future__ import annotations

_FINITE = 2**63


def count(holder: object, name: str) -> int | None:
    """Return the count that `holder` has under `name`, or None where it has none: absent, negative, no whole number."""
    value = holder.get(name) if isinstance(holder, dict) else None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _FINITE else None
