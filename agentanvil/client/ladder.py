"""What an endpoint and model accept, learnt from their refusals: one step at a time, once for all calls."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Protocol

from agentanvil.client.adapter import Adapter, Endpoint, Shape, memory_of
from agentanvil.client.base import ChatRequest
from agentanvil.client.refusals import CAPS, EFFORT, LOGPROBS, STRUCTURE, UNNAMED, blames_the_value
from agentanvil.errors import AnvilError, ConfigError, EndpointError, ParameterRefusedError

_SUSPECTS = (LOGPROBS, "seed", "temperature", EFFORT)


class ShapeStore(Protocol):
    """Remembers between runs what an endpoint and model accept. Trouble with the store must not raise."""

    def load(self, place: str, model: str) -> Shape | None: ...

    def save(self, place: str, model: str, shape: Shape) -> None: ...


class Ladder:
    """The shape that calls are built with, and its way down.

    Many calls are in flight when the first refusal comes back, and all of them will be refused. Only a call
    that used the current shape may change it; the others are simply sent again with what was learnt.
    """

    def __init__(self, adapter: Adapter, endpoint: Endpoint, store: ShapeStore | None = None) -> None:
        self._place = memory_of(adapter, endpoint)
        self._model = endpoint.model
        self._rungs = adapter.rungs
        self._store = store
        known = store.load(self._place, endpoint.model) if store is not None else None
        self._shape = known if known is not None and known.rung in self._rungs else endpoint.first
        self._hopeless: AnvilError | None = None
        cap = self._shape.cap_field
        self._caps_left = CAPS - {cap} if cap in CAPS else frozenset()

    @property
    def shape(self) -> Shape:
        return self._shape

    def learn(self, used: Shape, refusal: ParameterRefusedError, request: ChatRequest) -> None:
        """Change the shape so that the refused parameter is not sent again.

        Raises ConfigError where the user set that parameter, EndpointError where it is not one that can be
        left out: sending again would change nothing, for this call and for all that are refused with it.
        """
        if self._hopeless is not None:
            raise copy(self._hopeless)
        if used != self._shape:
            return
        parameter = "max_tokens" if refusal.parameter in CAPS else refusal.parameter
        unnamed = parameter == UNNAMED
        lower = self._lower(self._suspect(request) if unnamed else parameter, refusal, request)
        if lower is None:
            explicit = request.sampling.explicit
            self._hopeless = self._dead_end(
                parameter, refusal, explicit=bool(explicit) if unnamed else parameter in explicit
            )
            raise copy(self._hopeless)
        self._shape = lower
        if self._store is not None:
            self._store.save(self._place, self._model, lower)

    def _dead_end(self, parameter: str, refusal: ParameterRefusedError, *, explicit: bool) -> AnvilError:
        if explicit:
            return ConfigError(
                f"the judge {self._model} refuses {parameter}, which was set on purpose: {refusal.message}",
                hint=f"Leave {parameter} out, or set it to what the judge accepts.",
            )
        return EndpointError(
            f"the judge {self._model} refuses {parameter}, which cannot be left out: {refusal.message}",
            status=refusal.status,
        )

    def _lower(self, parameter: str, refusal: ParameterRefusedError, request: ChatRequest) -> Shape | None:
        """Return the next shape to try, or None where there is none."""
        shape = self._shape
        if parameter in STRUCTURE:
            weaker = self._rungs[self._rungs.index(shape.rung) + 1 :]
            return replace(shape, rung=weaker[0]) if weaker and request.schema is not None else None
        sampling = request.sampling
        field = shape.cap_field if parameter == "max_tokens" else parameter
        if _sent(request).get(parameter) is None or field in shape.dropped:
            return None
        if parameter == "max_tokens" and self._caps_left and not blames_the_value(refusal.message):
            (other,) = self._caps_left
            self._caps_left = frozenset()
            return replace(shape, cap_field=other)
        if parameter in sampling.explicit:
            return None
        return replace(shape, dropped=shape.dropped | {field})

    def _suspect(self, request: ChatRequest) -> str:
        """Return what to leave out next where the refusal does not say what it is about.

        The first one that is sent and was not set on purpose, in the order of how often it is refused against how
        much it is worth; then the structure, rung by rung.
        """
        sent, kept = _sent(request), request.sampling.explicit | self._shape.dropped
        return next((name for name in _SUSPECTS if sent[name] is not None and name not in kept), "response_format")


def _sent(request: ChatRequest) -> dict[str, object]:
    """Return the parameters that can be left out, by their neutral names; None is not sent."""
    sampling = request.sampling
    return {
        "temperature": sampling.temperature,
        "seed": sampling.seed,
        "max_tokens": sampling.max_tokens,
        EFFORT: sampling.effort,
        LOGPROBS: request.logprobs,
    }
