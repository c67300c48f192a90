"""
SwitchyardError
├── Rejected       the caller's fault; trying again cannot help
│   ├── InvalidJob · InvalidDefinition     carry every problem that was found
│   ├── UnknownJob · UnknownTask · UnknownDefinition
│   ├── UnknownQueue · UnknownLetter · MissingBlob
│   └── Conflict                           somebody else was faster
└── Unavailable    a dependency's fault; worth trying again
    ├── AnswerLost                         nobody knows whether the write was done: read it back
    ├── EventsNotAccepted
    └── LeaseLost                          the task is no longer ours: stop, settle nothing
"""

from collections.abc import Sequence
from dataclasses import dataclass


class SwitchyardError(Exception):
    """Everything that Switchyard itself raises."""


class Rejected(SwitchyardError):
    """The caller's fault; trying again cannot help."""


class Unavailable(SwitchyardError):
    """A dependency's fault; worth trying again."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with a request, and where: `path` is its place in the document."""

    path: tuple[str | int, ...]
    message: str

    def __str__(self) -> str:
        return f"{'.'.join(map(str, self.path))}: {self.message}" if self.path else self.message


class Invalid(Rejected):
    """Carries every problem, so that the caller mends them all at once."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = tuple(problems)


class InvalidJob(Invalid):
    pass


class InvalidDefinition(Invalid):
    pass


class UnknownJob(Rejected):
    def __init__(self, job_id: str) -> None:
        super().__init__(f"there is no job {job_id}")


class UnknownTask(Rejected):
    def __init__(self, request_id: str) -> None:
        super().__init__(f"there is no task {request_id}")


class UnknownDefinition(Rejected):
    def __init__(self, name: str) -> None:
        super().__init__(f"there is no task definition {name!r}")


class UnknownQueue(Rejected):
    def __init__(self, name: str) -> None:
        super().__init__(f"there is no queue {name}")


class UnknownLetter(Rejected):
    pass


class MissingBlob(Rejected):
    def __init__(self, key: str) -> None:
        super().__init__(f"there is nothing at {key} in the bucket")


class Conflict(Rejected):
    pass


class AnswerLost(Unavailable):
    """The request was sent, and nobody knows what became of it."""


class EventsNotAccepted(Unavailable):
    pass


class LeaseLost(Unavailable):
    pass
