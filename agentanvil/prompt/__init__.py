"""Task → the exact words that a judge reads, and the contract its reply must meet. Pure."""

from agentanvil.prompt.contract import Contract, ContractDimension, Prompt, build_contract
from agentanvil.prompt.material import Material
from agentanvil.prompt.questions import Asked, QuestionRenderer, build_questions, estimate_question_tokens
from agentanvil.prompt.render import CallTemplate, PromptRenderer
from agentanvil.prompt.reply_form import NOT_APPLICABLE, reask
from agentanvil.prompt.system import dimension_text
from agentanvil.prompt.tokens import estimate_reply_tokens, estimate_tokens
from agentanvil.prompt.trace_text import TraceText, trace_text
from agentanvil.prompt.words import PROMPT_VERSION, built_in_rules

__all__ = [
    "NOT_APPLICABLE",
    "PROMPT_VERSION",
    "Asked",
    "CallTemplate",
    "Contract",
    "ContractDimension",
    "Material",
    "Prompt",
    "PromptRenderer",
    "QuestionRenderer",
    "TraceText",
    "build_contract",
    "build_questions",
    "built_in_rules",
    "dimension_text",
    "estimate_question_tokens",
    "estimate_reply_tokens",
    "estimate_tokens",
    "reask",
    "trace_text",
]
