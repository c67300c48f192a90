"""Whether a task may wait at no cost of an attempt: its agent was refused for now, or a worker
lacks its code."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from switchyard.domain.backoff import Backoff
from switchyard.domain.tasks.failures import FailureCategory
from switchyard.domain.tasks.retries import GiveUp
from switchyard.domain.tasks.task import Task, Usage, milliseconds

LONGEST_WAIT: Final = timedelta(hours=24)  # since the task was ready
SHORTEST_MS: Final = 1_000
NOT_EMITTED_MS: Final = 60_000
"""The wait for a rate limit whose length the agent does not know."""
LAST_FENCE: Final = 100
"""The last fence of a postponement: a child that lies about its spending is stopped there."""
SPREAD: Final = 0.25
"""The share by which waits differ: tasks that were refused together do not return together."""
UNSERVED: Final = Backoff(first=5_000, longest=300_000)  # milliseconds
"""The waits of a task whose code no worker has had so far."""
FENCES_BEFORE: Final = 2
"""The fence's lead over the attempt at a first claim: the task became ready, and was sent."""


@dataclass(frozen=True, slots=True)
class Postpone:
    """Wait for a time drawn from the range."""

    delay_ms: int
    longest_delay_ms: int
    reason: str


def decide_postponement(
    task: Task,
    category: FailureCategory,
    *,
    retry_after_ms: int | None,
    usage: Usage,
    now_ms: int,
) -> Postpone | GiveUp | None:
    """Decide; `None` when it is retried like any other: what was paid for costs its attempt."""
    if retry_after_ms is None and category is FailureCategory.RATE_LIMIT:
        retry_after_ms = NOT_EMITTED_MS
    if retry_after_ms is None or not category.transient:
        return None
    if now_ms + retry_after_ms > _deadline_ms(task):
        return GiveUp(f"{category}: it may be tried again after its deadline only")
    if usage != Usage() or task.fence > LAST_FENCE:
        return None
    delay_ms = max(retry_after_ms, SHORTEST_MS)
    reason = f"{category}: to be tried again after {delay_ms} ms"
    return Postpone(delay_ms, round(delay_ms * (1 + SPREAD)), reason)


def decide_unserved(task: Task, *, now_ms: int) -> Postpone | GiveUp:
    """Decide about a claimed task whose code the worker lacks: each wait is longer than the last.

    Every claim raises the fence, and a claim that was handed back counts as no attempt.
    """
    if now_ms > _deadline_ms(task):
        return GiveUp(f"no worker had its code for {LONGEST_WAIT // timedelta(hours=1)} h")
    earlier = max(task.fence - task.attempt - FENCES_BEFORE, 0)
    delay_ms = UNSERVED.at_most(earlier)
    reason = f"this worker lacks its code: to be tried again after {delay_ms} ms"
    return Postpone(delay_ms, round(delay_ms * (1 + SPREAD)), reason)


def _deadline_ms(task: Task) -> int:
    """Return the end of postponement; a task waits for its workers for as long as it has to."""
    since = task.started_at_ms if task.ready_at_ms is None else task.ready_at_ms
    return (since or 0) + milliseconds(LONGEST_WAIT)
