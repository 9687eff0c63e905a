"""Judges by way of LiteLLM, which takes the body of Chat Completions for every provider it knows. Pure."""

from __future__ import annotations

from agentanvil.client.chat_completions import ChatCompletions

NOWHERE = "litellm"
"""Stands for the address where none is given: LiteLLM knows each provider's own."""


class LitellmChat(ChatCompletions):
    """The body that `litellm.acompletion` takes as its arguments, and the answer that it gives."""

    @property
    def api(self) -> str:
        return "litellm"
