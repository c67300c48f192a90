"""The groups of work queues: pools subscribe to groups, and a task belongs to one by its queue."""

import re
from typing import Final

from switchyard.domain.tasks.task import Task

DEFAULT_GROUP: Final = "default"
GROUP_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
GROUP_NAME_RULE: Final = "1 to 40 of a-z, 0-9 and -, without - in front"
TIERS: Final = ("drones", "coordinators", "architects")
"""The reserved names of groups by model tier; a tier resolves to the group of its name."""


def group_of_task(task: Task) -> str:
    """Return the group of a task's queue: the part of its name before `/`."""
    return (task.queue or DEFAULT_GROUP).partition("/")[0]
