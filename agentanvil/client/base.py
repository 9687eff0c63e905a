"""The seam of this room: what a judge call asks, what comes back, and who answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from agentanvil.client.headers import RateHeaders

Role = Literal["system", "user", "assistant"]
StopReason = Literal["stop", "length", "refusal", "blocked", "other"]


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message; text only."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class ReplySchema:
    """The JSON Schema that the reply must follow; property order is the order of writing."""

    name: str
    schema: Mapping[str, object]


QuestionKind = Literal["predicate", "choice", "score"]


@dataclass(frozen=True, slots=True)
class Question:
    """One typed question to a decision endpoint, which answers it with probabilities instead of text.

    `name` comes back with the answer. `options` are what a `choice` may name, or the levels of a `score` from the
    lowest to the highest, each with the words that tell what it stands for; none for a `predicate`, whose
    `instructions` state what is true or not.
    """

    name: str
    kind: QuestionKind
    instructions: str
    options: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Sampling:
    """Decoding parameters. None is not sent. `effort` is how much a reasoning model may think, in its own words.

    `explicit` names those that the user set: if the endpoint refuses one of them, that is a configuration
    error, while a refused default is dropped, remembered and reported.
    """

    temperature: float | None = 0.0
    seed: int | None = None
    max_tokens: int | None = None
    effort: str | None = None
    explicit: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One judge call, provider-neutral.

    `repeat` and `prompt_version` are not sent; they take part in the cache key, since repeats are separate
    measurements and a new prompt version makes old replies void. A re-ask differs in its messages, so it
    has a key of its own. `task_id` is for recordings, logs and errors. `logprobs` asks for the log-probabilities of
    that many alternatives to each token of the reply, where the endpoint gives them; None does not ask.
    `questions` are there for a decision endpoint alone, and the messages are then the state that it judges.
    """

    messages: tuple[Message, ...]
    schema: ReplySchema | None = None
    sampling: Sampling = field(default_factory=Sampling)
    repeat: int = 0
    prompt_version: str = ""
    task_id: str = ""
    logprobs: int | None = None
    questions: tuple[Question, ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as billed.

    `input_tokens` includes `cached_tokens` (read from the provider's prompt cache) and `cache_write_tokens`
    (written to it, at a price of their own); `output_tokens` includes `reasoning_tokens`.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    cache_write_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """One token of a reply. `at` is where it begins in the reply's text, in characters.

    `logprob` is the natural logarithm of its probability; `top` holds the likeliest tokens at this place with
    theirs, likeliest first, itself among them where it was likely enough.
    """

    at: int
    text: str
    logprob: float
    top: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class ChatReply:
    """A provider's answer after transport, body error and stop reason were read.

    `text` is the visible answer (for a forced tool call: its arguments). `reasoning` tells that a hidden
    reasoning field held text; it is never a verdict. `rates` is what the rate-limit headers of this answer
    said, None where there were none. `tokens` is empty unless log-probabilities were asked for and came back.
    """

    text: str
    stop: StopReason = "stop"
    refusal: str | None = None
    reasoning: bool = False
    usage: Usage = field(default_factory=Usage)
    model: str | None = None
    request_id: str | None = None
    rung: str | None = None
    attempts: int = 1
    latency_s: float = 0.0
    cached: bool = False
    cost: float | None = None
    rates: RateHeaders | None = None
    tokens: tuple[TokenLogprob, ...] = ()


class ChatClient(Protocol):
    """Anything that answers a ChatRequest: a provider, a wrapper around one, a recording, a script.

    `complete` raises CallError (see errors.py) and nothing else on purpose.
    `fingerprint` returns what would be sent, as bytes that identify the call: API kind, endpoint and the
    full request body. It must not depend on anything else.
    """

    async def complete(self, request: ChatRequest) -> ChatReply: ...

    def fingerprint(self, request: ChatRequest) -> bytes: ...

    async def confirm(self, request: ChatRequest, reply: ChatReply) -> None:
        """Told by the judge that this reply held a valid verdict; only then may a cache keep it."""

    async def close(self) -> None: ...
