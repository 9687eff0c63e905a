"""Mistral's own Chat Completions. Pure."""

from __future__ import annotations

from agentanvil.client.adapter import Shape
from agentanvil.client.base import ChatRequest
from agentanvil.client.chat_completions import ChatCompletions
from agentanvil.hashing import digest, well_formed


class Mistral(ChatCompletions):
    """`POST {base}/chat/completions`, with a seed of another name and a prompt cache that has to be asked for."""

    def fields(self, model: str, request: ChatRequest, shape: Shape) -> dict[str, object]:
        """Return the body's fields; calls with the same system message share a prompt cache."""
        body = super().fields(model, request, shape)
        if "seed" in body:
            body["random_seed"] = body.pop("seed")
        constant = [well_formed(message.content) for message in request.messages if message.role == "system"]
        if constant:
            body["prompt_cache_key"] = digest(*constant)
        return body
