"""Which calls a run needs, as tasks with stable ids."""

from agentanvil.plan.tasks import BY_CODE, CHECKS, JOINT, UNORDERED, CallPlan, Plan, Task, plan_calls, task_id

__all__ = ["BY_CODE", "CHECKS", "JOINT", "UNORDERED", "CallPlan", "Plan", "Task", "plan_calls", "task_id"]
