"""A work queue: a row that tasks name, and what they take from it when they are submitted."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from switchyard.domain.errors import Conflict, Rejected
from switchyard.domain.fan_out.templates import INPUT, NamedPart, parts_of_template
from switchyard.domain.ids import DEFAULT_QUEUE, QUEUE_GROUP_RULE, QUEUE_NAME
from switchyard.domain.prompts.references import NotAReference
from switchyard.domain.scheduling.classes import PriorityClass
from switchyard.domain.text import did_you_mean

QUEUE_NAME_RULE: Final = f"group or group/name; a group is {QUEUE_GROUP_RULE}"
DEFAULT_GROUPS: Final = (DEFAULT_QUEUE,)
SHORTEST_LEASE_MS: Final = 10_000
LONGEST_LEASE_MS: Final = 15 * 60 * 1000
MOST_AT_ONCE: Final = 1_000
"""What a limit's item has room for: it holds the set of its holders."""
MOST_STARTS_PER_MINUTE: Final = 10_000
LONGEST_KEY: Final = 100
MOST_QUEUES: Final = 1_000
"""The most queues that a tenant may have."""
RESERVED_NAMES: Final = frozenset({"items", "dead-letters"})
"""Behind a group these are routes of the API."""


class UnknownWorkQueue(Rejected):
    def __init__(self, name: str, hint: str = "") -> None:
        super().__init__(f"there is no queue {name!r}{hint}")


class QueueInUse(Conflict):
    def __init__(self, name: str, users: Collection[str]) -> None:
        super().__init__(f"the queue {name!r} is in use by {', '.join(users)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Concurrency:
    """How many tasks may run at once: in all, or for each value of the key."""

    limit: int
    key: str | None = None
    """A constant, or a text with parts of the task's input, like `${input.repo}`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkQueue:
    tenant: str
    name: str
    lease_ms: int | None = None
    """What a renewal of the lease of one of its tasks adds; the worker's own when absent."""
    max_attempts: int | None = None
    """How often its tasks are tried, unless their definition says otherwise."""
    priority: PriorityClass = PriorityClass.NORMAL
    concurrency: Concurrency | None = None
    starts_per_minute: int | None = None
    created_by: str | None = None
    """The id of the API key that created it, where one is known."""
    created_at_ms: int = 0
    version: int = 1
    """Counts changes: who changes a queue names the version that was read."""

    @property
    def group(self) -> str:
        return group_of(self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionTerms:
    """What a definition says of the queue, the class and the limits of its tasks."""

    queue: str | None = None
    priority: PriorityClass | None = None
    concurrency: Concurrency | None = None
    starts_per_minute: int | None = None


def group_of(name: str) -> str:
    """Return the group of a queue: what pools subscribe to."""
    return name.partition("/")[0]


def problem_with_queue_name(name: str) -> str | None:
    if not QUEUE_NAME.fullmatch(name):
        return f"must be {QUEUE_NAME_RULE}"
    reserved = name.partition("/")[2]
    if reserved in RESERVED_NAMES:
        return f"{reserved!r} is reserved behind a group; choose another name"
    return None


def problem_with_group(name: str, groups: Collection[str]) -> str | None:
    """Say that the stage does not have the group of a queue."""
    group = group_of(name)
    if group in groups:
        return None
    hint = did_you_mean(group, groups)
    named = ", ".join(sorted(groups))
    return f"the group {group!r} is none of this stage, which has {named}{hint}"


def problem_with_key(key: str) -> str | None:
    """Say why a text cannot be the key of a limit."""
    if not key or len(key) > LONGEST_KEY:
        return f"must have 1 to {LONGEST_KEY} characters"
    shape = "must be a constant, or refer to the input like ${input.repo}"
    try:
        parts = parts_of_template(key, of_items=False)
    except NotAReference:
        return shape
    whole = any(isinstance(part, NamedPart) and not part.steps for part in parts)
    if whole or any(isinstance(part, str) and "${" in part for part in parts):
        return shape
    return None


def refers_to_input(key: str) -> bool:
    return f"${{{INPUT}" in key
