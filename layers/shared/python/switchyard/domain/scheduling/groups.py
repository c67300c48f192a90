"""The groups of work queues: pools subscribe to groups, and a task belongs to one by its queue."""

from typing import Final

from switchyard.domain.scheduling.work_queues import group_of
from switchyard.domain.tasks.task import Task

DEFAULT_GROUP: Final = "default"
TIERS: Final = ("drones", "coordinators", "architects")
"""The reserved names of groups by model tier; a tier resolves to the group of its name."""


def group_of_task(task: Task) -> str:
    """Return the group of a task's queue: the part of its name before `/`."""
    return group_of(task.queue or DEFAULT_GROUP)
