"""Which calls a run needs, as tasks with stable ids, and which of two responses each of them shows first."""

from agentanvil.plan.condition import Condition, idle_terms
from agentanvil.plan.condition_text import parse_condition, usual_condition
from agentanvil.plan.escalation import Escalation
from agentanvil.plan.order import (
    UNORDERED,
    Order,
    OrderMode,
    contenders,
    shown,
    unswap_delta,
    unswap_probability,
    unswap_slot,
)
from agentanvil.plan.tasks import (
    BY_CODE,
    CHECKS,
    FIRST_REPEATS,
    JOINT,
    CallPlan,
    Plan,
    Role,
    Seat,
    Slot,
    Task,
    plan_calls,
    task_id,
)

__all__ = [
    "BY_CODE",
    "CHECKS",
    "FIRST_REPEATS",
    "JOINT",
    "UNORDERED",
    "CallPlan",
    "Condition",
    "Escalation",
    "Order",
    "OrderMode",
    "Plan",
    "Role",
    "Seat",
    "Slot",
    "Task",
    "contenders",
    "idle_terms",
    "parse_condition",
    "plan_calls",
    "shown",
    "task_id",
    "unswap_delta",
    "unswap_probability",
    "unswap_slot",
    "usual_condition",
]
