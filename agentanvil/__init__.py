"""AgentAnvil: an LLM judge as a measuring instrument."""

__version__ = "0.1.0"
