"""The tasks that a fan-out or a job made earlier, when it makes them anew."""

from collections.abc import Collection
from typing import Final

from switchyard.domain.jobs.job import JobStates, StateOfTask
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Outcome, Task

NOT_IN_LIST: Final = "not_in_list"
"""The category of an item's end of which the list has nothing any more."""
REASON: Final = "the list has no such item any more"


def earlier_items(found: JobStates, maker: Task, makers: Collection[str] = ()) -> list[StateOfTask]:
    """Return the tasks that are stored as they were made of an earlier list or input.

    `makers` are those among the new tasks that make others: each replaces its own.
    """
    first, name = maker.first_item_run, maker.ref.task_id
    return [
        task
        for task in found.tasks
        if task.run < first
        and name in task.ref.makers
        and not any(one in makers for one in task.ref.makers)
    ]


def stored_beside(found: JobStates, new: Collection[str]) -> int:
    """Count the tasks that are stored and that people may see, beside those with a new id."""
    return sum(not task.ref.hidden and task.ref.task_id not in new for task in found.tasks)


def left_the_list() -> Outcome:
    return Outcome(state=TaskState.SKIPPED, error=REASON, error_category=NOT_IN_LIST)


def has_left_the_list(task: Task) -> bool:
    """Return whether its fan-out's list has no such item any more: nothing can run it."""
    return task.outcome is not None and task.outcome.error_category == NOT_IN_LIST
