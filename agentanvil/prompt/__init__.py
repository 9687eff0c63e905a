"""Task → the exact words that a judge reads, and the contract its reply must meet. Pure."""

from agentanvil.prompt.contract import Contract, ContractDimension, Prompt, build_contract
from agentanvil.prompt.material import Material
from agentanvil.prompt.render import CallTemplate, PromptRenderer
from agentanvil.prompt.reply_form import NOT_APPLICABLE, reask
from agentanvil.prompt.system import dimension_text
from agentanvil.prompt.tokens import estimate_reply_tokens, estimate_tokens
from agentanvil.prompt.trace_text import TraceText, trace_text
from agentanvil.prompt.words import PROMPT_VERSION

__all__ = [
    "NOT_APPLICABLE",
    "PROMPT_VERSION",
    "CallTemplate",
    "Contract",
    "ContractDimension",
    "Material",
    "Prompt",
    "PromptRenderer",
    "TraceText",
    "build_contract",
    "dimension_text",
    "estimate_reply_tokens",
    "estimate_tokens",
    "reask",
    "trace_text",
]
