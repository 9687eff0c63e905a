"""Responses that are not to be changed, and why."""

from __future__ import annotations

from typing import Literal

from agentanvil.dataset.messages import reads_as_conversation
from agentanvil.dataset.records import Contender
from agentanvil.dataset.texts import is_blank

Unchangeable = Literal["trace", "conversation", "empty", "no_prose"]
"""An agent's run, whose answer is read with its steps; a conversation of several messages, not all of them the
response's; nothing at all; or code, data and tables alone."""


def why_unchangeable(side: Contender) -> Unchangeable | None:
    """Return why the text of a response cannot honestly be changed, None where it can."""
    if side.trace is not None:
        return "trace"
    if is_blank(side.response):
        return "empty"
    return "conversation" if reads_as_conversation(side.response) else None
