"""How much of a reply a message shows."""

from __future__ import annotations

SHOWN = 60


def excerpt(text: str) -> str:
    """Return `text` on one line, cut after SHOWN characters."""
    line = " ".join(text[: 2 * SHOWN].split())
    return line if len(line) <= SHOWN else f"{line[:SHOWN]}…"
