"""Which calls a run needs, as tasks with stable ids."""

from agentanvil.plan.tasks import CHECKS, JOINT, UNORDERED, CallPlan, Plan, Task, plan_calls, task_id

__all__ = ["CHECKS", "JOINT", "UNORDERED", "CallPlan", "Plan", "Task", "plan_calls", "task_id"]
