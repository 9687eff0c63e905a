"""OpenRouter: Chat Completions before many providers. Pure."""

from __future__ import annotations

from agentanvil.client.adapter import Shape
from agentanvil.client.base import ChatRequest
from agentanvil.client.chat_completions import ChatCompletions
from agentanvil.client.refusals import EFFORT

_TOO_MUCH = 1e6  # dollars; no answer costs as much, so what says so is no bill


class OpenRouter(ChatCompletions):
    """`POST {base}/chat/completions`. Answers say what they cost.

    Providers that would pass over a parameter in silence are ruled out: an unheeded schema or temperature would stay
    unseen. Where none is left, the refusal does not say why, and the ladder finds out what to leave out.
    """

    def fields(self, model: str, request: ChatRequest, shape: Shape) -> dict[str, object]:
        body = super().fields(model, request, shape)
        body["provider"] = {"require_parameters": True}
        if EFFORT in body:
            body["reasoning"] = {"effort": body.pop(EFFORT)}
        return body

    def billed(self, usage: object) -> float | None:
        """Return OpenRouter's charge, and with a provider's key of the user's own what that provider takes on top."""
        charge = _amount(usage, "cost")
        if charge is None or not isinstance(usage, dict) or not usage.get("is_byok"):
            return charge
        upstream = _amount(usage.get("cost_details"), "upstream_inference_cost")
        return None if upstream is None else charge + upstream


def _amount(holder: object, name: str) -> float | None:
    value = holder.get(name) if isinstance(holder, dict) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < _TOO_MUCH else None
