"""
SwitchyardError
├── Rejected       the caller's fault; trying again cannot help
│   ├── InvalidJob · InvalidDefinition · InvalidTrigger · InvalidDecision   carry all problems
│   ├── InvalidCondition                   names the place of the mistake in its text
│   ├── UnreadableDocument                 of a job that was accepted: carries them too
│   ├── KeyReused                          the idempotency key stands for another body
│   ├── UnknownJob · UnknownTask · UnknownDefinition
│   ├── UnknownKey · UnknownQueue · UnknownParkedMessage · MissingBlob
│   ├── TooMuch                            more data than is read at once
│   ├── TooManyRequests                    says when the next one is welcome
│   └── Conflict                           another request was faster
│       ├── DefinitionInUse                names who uses it
│       └── NotNow                         it will pass by itself
└── Unavailable    a dependency's fault; worth trying again
    ├── DamagedBlob                        what was read is not what was stored
    ├── AnswerLost                         unknown whether the write was done: read it back
    ├── EventsNotAccepted
    ├── NewerVersion                       what was read is for a newer version to handle
    ├── Throttled                          nothing was done: there were too many at once
    └── LeaseLost                          the task is no longer ours: stop, settle nothing
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

MAX_PROBLEMS: Final = 100


class SwitchyardError(Exception):
    """The base of all errors that Switchyard itself raises."""


class Rejected(SwitchyardError):
    """The caller's fault; trying again cannot help."""


class Unavailable(SwitchyardError):
    """A dependency's fault; worth trying again."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem with a request, and where: `path` is its place in the document."""

    path: tuple[str | int, ...]
    message: str

    def __str__(self) -> str:
        return f"{'.'.join(map(str, self.path))}: {self.message}" if self.path else self.message


def not_too_many(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    """The first hundred, and how many more there are."""
    more = len(problems) - MAX_PROBLEMS
    if more <= 1:  # to name the last one is as short
        return tuple(problems)
    return (*problems[:MAX_PROBLEMS], Problem((), f"and {more:,} problems more"))


class Invalid(Rejected):
    """Carries every problem, so that the caller mends them all at once."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = not_too_many(problems)
        super().__init__("; ".join(map(str, self.problems)))


class InvalidJob(Invalid):
    pass


class InvalidDefinition(Invalid):
    pass


class InvalidTrigger(Invalid):
    pass


class InvalidCondition(Rejected):
    """The text of a task's condition cannot be read; the sentence names the mistake's place."""


class UnreadableDocument(Invalid):
    """A stored document cannot be read: another version or another program wrote it."""


class InvalidDecision(Invalid):
    """A value that a decision or a signal gives does not fit."""


class KeyReused(Rejected):
    def __init__(self, key: str) -> None:
        super().__init__(
            f"the idempotency key {key!r} was used for another job within the last 24 hours; "
            "another job needs another key"
        )


class UnknownJob(Rejected):
    def __init__(self, job_id: str) -> None:
        super().__init__(f"there is no job {job_id}")


class UnknownTask(Rejected):
    def __init__(self, request_id: str) -> None:
        super().__init__(f"there is no task {request_id}")


class UnknownDefinition(Rejected):
    def __init__(self, name: str) -> None:
        super().__init__(f"there is no task definition {name!r}")


class UnknownKey(Rejected):
    def __init__(self, tenant: str, key_id: str) -> None:
        super().__init__(f"the tenant {tenant} has no key {key_id!r}")


class UnknownQueue(Rejected):
    def __init__(self, name: str) -> None:
        super().__init__(f"there is no queue {name}")


class UnknownParkedMessage(Rejected):
    pass


class MissingBlob(Rejected):
    def __init__(self, key: str) -> None:
        super().__init__(f"there is nothing at {key} in the bucket")


class TooMuch(Rejected):
    def __init__(self, max_bytes: int) -> None:
        super().__init__(f"the outputs have more than {max_bytes:,} bytes together")


class TooManyRequests(Rejected):
    def __init__(self, reason: str, *, retry_after_seconds: int) -> None:
        super().__init__(reason)
        self.retry_after_seconds = retry_after_seconds


class Conflict(Rejected):
    pass


class DefinitionInUse(Conflict):
    def __init__(self, name: str, users: Sequence[str]) -> None:
        super().__init__(f"the task definition {name!r} is in use by {', '.join(users)}")


class NotNow(Conflict):
    """A refusal that passes by itself: the same request is accepted a little later."""


class MustNotStart(SwitchyardError):
    """A task of a job that is being cancelled: it must not be started."""


class DamagedBlob(Unavailable):
    """The bytes read from the bucket do not have the checksum of those that were put there."""

    def __init__(self, key: str) -> None:
        super().__init__(f"what is at {key} in the bucket does not have its checksum")


class AnswerLost(Unavailable):
    """The request was sent, and its result is unknown."""


class Throttled(Unavailable):
    pass


class EventsNotAccepted(Unavailable):
    pass


class NewerVersion(Unavailable):
    """A newer version of Switchyard wrote it: it is left to one that understands it."""


class LeaseLost(Unavailable):
    pass
