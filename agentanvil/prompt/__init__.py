"""Task → the exact words that a judge reads, and the contract its reply must meet. Pure."""

from agentanvil.prompt.contract import Contract, ContractDimension, Prompt

__all__ = ["Contract", "ContractDimension", "Prompt"]
