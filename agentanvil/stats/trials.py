"""How often a task is solved in k attempts, from n attempts of which c succeeded.

    pass@k = 1 − C(n − c, k) / C(n, k)   at least one of k drawn without replacement succeeds (Chen et al. 2021)
    pass^k = C(c, k) / C(n, k)           all k of them succeed (Yao et al. 2024)

Both are without bias for n attempts that are independent; k beyond n would have to be extrapolated and is undefined.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction

from agentanvil.stats.estimate import Estimate

Task = tuple[int, int]
"""Attempts n and successes c."""


def pass_at_k(attempts: int, successes: int, k: int) -> Estimate:
    """Return the probability that at least one of k attempts succeeds; the estimate's n is `attempts`.

    Undefined for k beyond `attempts` or below 1, and where `successes` are no part of `attempts`.
    """
    return _of_task(attempts, successes, k, _at_least_one)


def pass_hat_k(attempts: int, successes: int, k: int) -> Estimate:
    """Return the probability that all of k attempts succeed; otherwise as `pass_at_k`."""
    return _of_task(attempts, successes, k, _all)


def mean_pass_at_k(tasks: Sequence[Task], k: int) -> Estimate:
    """Return the mean of pass@k over `tasks`, each (attempts, successes); n counts tasks.

    Undefined without tasks, and where it is for one of them: leaving that one out would change what is measured.
    """
    return _of_tasks(tasks, k, _at_least_one)


def mean_pass_hat_k(tasks: Sequence[Task], k: int) -> Estimate:
    """Return the mean of pass^k over tasks; otherwise as `mean_pass_at_k`."""
    return _of_tasks(tasks, k, _all)


def _at_least_one(attempts: int, successes: int, k: int) -> Fraction:
    return 1 - _all(attempts, attempts - successes, k)


def _all(attempts: int, successes: int, k: int) -> Fraction:
    return Fraction(math.comb(successes, k), math.comb(attempts, k))


def _of_task(attempts: int, successes: int, k: int, share: Callable[[int, int, int], Fraction]) -> Estimate:
    if not 0 <= successes <= attempts:
        return Estimate(None, attempts, f"{successes} successes are no part of {attempts} attempts")
    if not 1 <= k <= attempts:
        return Estimate(None, attempts, f"k = {k} is not within the {attempts} attempts there are")
    return Estimate(float(share(attempts, successes, k)), attempts)


def _of_tasks(tasks: Sequence[Task], k: int, share: Callable[[int, int, int], Fraction]) -> Estimate:
    if not tasks:
        return Estimate(None, 0, "no tasks")
    counted = Counter(tasks)
    found = [(_of_task(n, c, k, share), times) for (n, c), times in sorted(counted.items())]
    for estimate, _ in found:
        if estimate.value is None:
            return Estimate(None, len(tasks), estimate.reason)
    total = math.fsum(estimate.value * times for estimate, times in found if estimate.value is not None)
    return Estimate(total / len(tasks), len(tasks))
