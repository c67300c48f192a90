"""
ClientError               whatever comes between a program and its job
├── Refused               the API said no: the same again is refused again
│   ├── KeyRefused        the key opens nothing there
│   ├── NotFound          there is no such job, task or definition
│   └── RefusedForNow     the same will be accepted a little later
├── Unreachable           no answer, or none that the API would give; worth trying again
│   ├── NotConnected      no connection, so nothing was done
│   └── TooManyRequests   the key is used too often, so nothing was done
├── UnusableJob           a job that no API would take
├── UnsafeName            a file that would be saved outside of its folder
├── UnusableFile          a file that cannot be submitted with a job
└── StillRunning          the time to wait was over before the job was
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from switchyard.domain.errors import Problem

PAUSE_SECONDS = 1.0


def sentence(reason: object) -> str:
    """Return the text of a reason with one full stop at its end."""
    return f"{str(reason).rstrip('.')}."


class ClientError(Exception):
    """An error whose text is a sentence for people."""


class WithProblems(ClientError):
    """Carries everything that was found wrong, each with its place in the request."""

    def __init__(self, sentence: str, problems: Sequence[Problem] = ()) -> None:
        super().__init__("\n  ".join([sentence, *map(str, problems)]))
        self.problems = tuple(problems)


class Refused(WithProblems):
    pass


class KeyRefused(Refused):
    pass


class NotFound(Refused):
    pass


class RefusedForNow(Refused):
    def __init__(self, sentence: str, *, pause_seconds: float = PAUSE_SECONDS) -> None:
        super().__init__(sentence)
        self.pause_seconds = pause_seconds
        """The seconds to wait before the next try; also in the classes below."""


class Unreachable(ClientError):
    def __init__(self, sentence: str, *, pause_seconds: float = PAUSE_SECONDS) -> None:
        super().__init__(sentence)
        self.pause_seconds = pause_seconds


class NotConnected(Unreachable):
    pass


class TooManyRequests(Unreachable):
    pass


class UnusableJob(WithProblems):
    pass


class UnsafeName(ClientError):
    def __init__(self, name: str) -> None:
        super().__init__(f"{name!r} would be saved outside of its folder.")


class UnusableFile(ClientError):
    pass


class StillRunning(ClientError):
    def __init__(self, job_id: str, status: str, seconds: float) -> None:
        super().__init__(f"{job_id} is {status} after {seconds:g} seconds.")
        self.job_id = job_id
