"""Agent traces: one frozen record inside, whatever wrote the file."""

from agentanvil.dataset.traces.record import Step, ToolStep, Trace, TurnStep

__all__ = ["Step", "ToolStep", "Trace", "TurnStep"]
