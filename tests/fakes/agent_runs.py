"""Small traces of agents, for tests of any room."""

from __future__ import annotations

from agentanvil.dataset import ToolStep, Trace, TurnStep


def called(*tools: str, **fields: object) -> Trace:
    """A trace that calls these tools without arguments, one word before the first call and one after the last."""
    steps = (
        TurnStep("assistant", "I look."),
        *(ToolStep(tool, args={}) for tool in tools),
        TurnStep("assistant", "Ok."),
    )
    return Trace(steps=steps, final_answer="Ok.", **fields)  # type: ignore[arg-type]


def ran(*calls: ToolStep, **fields: object) -> Trace:
    """A trace of these calls and nothing else."""
    return Trace(steps=calls, **fields)  # type: ignore[arg-type]
