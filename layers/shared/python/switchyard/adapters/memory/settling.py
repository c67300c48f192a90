"""How a task looks once it has settled."""

from dataclasses import replace

from switchyard.domain.tasks import due
from switchyard.domain.tasks.task import Outcome, Task


def settled(task: Task, outcome: Outcome, now_ms: int) -> Task:
    return replace(
        task,
        state=outcome.state,
        outcome=outcome,
        settled_at_ms=now_ms,
        due_at_ms=now_ms + due.AFTER_SETTLING,
    )
