"""Everything that talks to a judge: the call seam, pure provider adapters, and wrappers that are clients too."""

from agentanvil.client.base import (
    ChatClient,
    ChatReply,
    ChatRequest,
    Message,
    Question,
    ReplySchema,
    Sampling,
    TokenLogprob,
    Usage,
)

__all__ = [
    "ChatClient",
    "ChatReply",
    "ChatRequest",
    "Message",
    "Question",
    "ReplySchema",
    "Sampling",
    "TokenLogprob",
    "Usage",
]
