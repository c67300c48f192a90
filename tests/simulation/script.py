"""How attempts go in a simulated harness."""

import random
from typing import Final

from switchyard.domain.ids import TaskRef, due_shard
from switchyard.domain.tasks.failures import FailureCategory
from switchyard.domain.tasks.task import Usage
from switchyard.ports import Claimed
from switchyard_worker.parent.attempts.verdict import Verdict, completed, failed, timed_out

MOST_ITEMS: Final = 7
LARGE: Final = "x" * 5_000


def items_of(task: TaskRef, run: int) -> list[int]:
    """Return the list that a task returns when it completes: up to seven, another in each run."""
    return list(range((due_shard(task.task_id) + 3 * (run - 1)) % (MOST_ITEMS + 1)))


class Script:
    """How long attempts take and how they end."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice

    def draw(self, claimed: Claimed) -> tuple[float, Verdict]:
        low, high = self._dice.choice(((0.5, 5.0), (5.0, 40.0), (40.0, 150.0)))
        seconds = self._dice.uniform(low, high)
        return seconds, self._verdict(claimed, round(seconds * 1000))

    def _verdict(self, claimed: Claimed, duration_ms: int) -> Verdict:
        drawn = self._dice.random()
        if drawn < 0.15:
            return failed(category=FailureCategory.NETWORK, error="cut", duration_ms=duration_ms)
        if drawn < 0.22:
            return failed(category=FailureCategory.VALIDATION, error="no", duration_ms=duration_ms)
        if drawn < 0.27:
            return timed_out(timeout_ms=duration_ms, duration_ms=duration_ms, signal="SIGTERM")
        if drawn < 0.31:
            category, wait_ms = FailureCategory.RATE_LIMIT, round(self._dice.uniform(0, 60_000))
            return failed(category=category, error="slower", retry_after_ms=wait_ms)
        ref = claimed.task.ref
        output = {
            "of": ref.request_id,
            "fence": claimed.task.fence,
            "items": items_of(ref, claimed.task.run),
        }
        if drawn < 0.36:
            output["text"] = LARGE
        return completed(output=output, usage=Usage(), duration_ms=duration_ms)
