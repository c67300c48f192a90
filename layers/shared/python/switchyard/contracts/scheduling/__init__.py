"""What tasks, jobs, definitions and queues say of where a task waits and under which limits."""

from typing import Annotated, Any, Final

from pydantic import AfterValidator, Field, SerializerFunctionWrapHandler, WrapSerializer

from switchyard.contracts.wire import CleanText, Closed, at_most, described_by, unless_absent
from switchyard.domain.ids import QUEUE_NAME
from switchyard.domain.jobs.limits import MAX_TAG_CHARACTERS, MAX_TAGS
from switchyard.domain.jobs.plan import Pinned
from switchyard.domain.scheduling.classes import PriorityClass
from switchyard.domain.scheduling.work_queues import (
    LONGEST_KEY,
    MOST_AT_ONCE,
    MOST_STARTS_PER_MINUTE,
    Concurrency,
    problem_with_key,
    problem_with_queue_name,
)

MAX_METADATA: Final = MAX_TAGS


def _queue_name(name: str) -> str:
    problem = problem_with_queue_name(name)
    if problem:
        raise ValueError(problem)
    return name


def _key(key: str) -> str:
    problem = problem_with_key(key)
    if problem:
        raise ValueError(problem)
    return key


QueueName = Annotated[str, AfterValidator(_queue_name), described_by(QUEUE_NAME)]
"""The name of a work queue: `group` or `group/name`."""
Priority = PriorityClass
StartsPerMinute = Annotated[int, Field(ge=1, le=MOST_STARTS_PER_MINUTE)]
_Text = Annotated[CleanText, Field(min_length=1, max_length=MAX_TAG_CHARACTERS)]
Metadata = Annotated[dict[_Text, _Text], at_most(MAX_METADATA), Field(max_length=MAX_METADATA)]
"""What producers want to see beside a task: texts by name."""


class ConcurrencyLimit(Closed):
    limit: int = Field(ge=1, le=MOST_AT_ONCE)
    """How many tasks may run at once."""
    key: (
        Annotated[
            CleanText, AfterValidator(_key), Field(json_schema_extra={"maxLength": LONGEST_KEY})
        ]
        | None
    ) = unless_absent()
    """What the limit is counted by: a constant, or parts of a task's input like `${input.repo}`.
    Without it all tasks count together."""

    def value(self) -> Concurrency:
        return Concurrency(limit=self.limit, key=self.key)

    @classmethod
    def of(cls, concurrency: Concurrency) -> "ConcurrencyLimit":
        return cls(limit=concurrency.limit, key=concurrency.key)


def _without_nulls(value: Any, write: SerializerFunctionWrapHandler) -> Any:
    return _said(write(value))


def _said(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {name: _said(inner) for name, inner in value.items() if inner is not None}


StoredPinned = Annotated[Pinned, WrapSerializer(_without_nulls)]
"""The fixed version of a definition. What it does not say is not written: earlier releases know
nothing of it."""
