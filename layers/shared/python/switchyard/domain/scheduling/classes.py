"""The priority classes that order a tenant's own tasks."""

from enum import StrEnum


class PriorityClass(StrEnum):
    HIGH = "high"
    NORMAL = "normal"
    LOW = "low"


def stored_class(priority: str | None) -> str | None:
    """Return the class as a task stores it: `normal` is not written."""
    return None if priority in {None, PriorityClass.NORMAL} else str(priority)
