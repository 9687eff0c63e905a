"""Task → the exact words that a judge reads, and the contract its reply must meet. Pure."""

from agentanvil.prompt.contract import Contract, ContractDimension, Prompt, build_contract
from agentanvil.prompt.render import CallTemplate, PromptRenderer
from agentanvil.prompt.tokens import estimate_tokens
from agentanvil.prompt.words import NOT_APPLICABLE, PROMPT_VERSION, reask

__all__ = [
    "NOT_APPLICABLE",
    "PROMPT_VERSION",
    "CallTemplate",
    "Contract",
    "ContractDimension",
    "Prompt",
    "PromptRenderer",
    "build_contract",
    "estimate_tokens",
    "reask",
]
