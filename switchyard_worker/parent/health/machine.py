"""Distinguishes trouble of the worker's machine from a failure of a task.

A full disk, no free descriptors or no memory is not the task's doing: its attempt is given back,
and another worker takes it. A machine that goes on like this takes no more tasks: it would fail the
fastest, and so receive the most messages.
"""

import asyncio
import errno
import os
from collections.abc import Callable, Iterator
from typing import Final

from switchyard.bootstrap import Offload
from switchyard.domain.tasks.failures import FailureCategory
from switchyard.domain.tasks.task import Task
from switchyard.observability import get_logger
from switchyard.ports import Clock, Sleep
from switchyard_worker.guard.starting import GuardUnavailable
from switchyard_worker.parent.attempts.verdict import Concluded, HandedBack, Verdict, failed

logger = get_logger("worker")

MOST_IN_A_ROW: Final = 3
FIRST_DELAY_MS: Final = 2_000
LONGEST_DELAY_MS: Final = 60_000
SECONDS_BETWEEN_PROBES: Final = 10.0
LEAST_REST_SECONDS: Final = 60.0
"""The time that a machine rests after too much trouble in a row, even if a probe finds nothing."""
MOST_GIVEN_BACK: Final = 50
"""Attempts at one task that cost it nothing; after that it may be what makes machines sick."""

_OF_THE_MACHINE: Final = frozenset(
    {
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EROFS,
        errno.EIO,
        errno.EMFILE,
        errno.ENFILE,
        errno.ENOMEM,
        errno.EAGAIN,  # no process or thread more
    }
)
_OF_THE_TASK: Final = frozenset({FailureCategory.VALIDATION, FailureCategory.AUTH})
_NO_THREAD: Final = "can't start new thread"
_NO_MEMORY_TO_IMPORT: Final = ("failed to map segment", "annot allocate memory")
"""Messages of the dynamic linker; Python makes them an `ImportError` without an errno."""


def machine_trouble(problem: BaseException) -> str | None:
    """Return what the machine lacks, or `None` if the problem is another."""
    for error in _all_in(problem):
        if isinstance(error, GuardUnavailable):
            return str(error)
        if isinstance(error, MemoryError) or _lacks_memory_to_import(error):
            return "out of memory"
        if isinstance(error, RuntimeError) and str(error) == _NO_THREAD:
            return "no thread can be started"
        if isinstance(error, OSError) and error.errno in _OF_THE_MACHINE:
            return f"{os.strerror(error.errno)} ({errno.errorcode[error.errno]})"
    return None


def _lacks_memory_to_import(error: BaseException) -> bool:
    return isinstance(error, ImportError) and any(
        said in str(error) for said in _NO_MEMORY_TO_IMPORT
    )


def _all_in(problem: BaseException | None) -> Iterator[BaseException]:
    """Yield an exception, those grouped in it and those that caused it."""
    while problem is not None:
        yield problem
        if isinstance(problem, BaseExceptionGroup):
            for one in problem.exceptions:
                yield from _all_in(one)
        problem = problem.__cause__


class Machine:
    """Knows whether the machine that this worker runs on is healthy."""

    def __init__(
        self, *, probe: Callable[[], str | None], clock: Clock, sleep: Sleep, offload: Offload
    ) -> None:
        self.sick: str | None = None
        """The reason why the worker takes no tasks."""
        self._probe = probe
        self._clock = clock
        self._sleep = sleep
        self._offload = offload
        self._changed: asyncio.Event | None = None
        self._in_a_row = 0
        self._rests_until = 0.0

    def announce_to(self, changed: asyncio.Event) -> None:
        """Set this event whenever the machine falls ill or recovers."""
        self._changed = changed

    async def watch(self) -> None:
        """Probe the machine until cancelled: a sick one that recovers takes tasks again."""
        while True:
            await self.look()
            await self._sleep(SECONDS_BETWEEN_PROBES)

    async def look(self) -> str | None:
        """Probe now; return what is wrong."""
        try:
            problem = await self._offload(self._probe)
        except (MemoryError, RuntimeError) as error:  # no thread, or none that could do it
            problem = machine_trouble(error) or str(error)
        if problem:
            self._fall_ill(problem)
        elif self.sick and self._clock.monotonic() >= self._rests_until:
            logger.info("machine has recovered", extra={"was": self.sick})
            self.sick, self._in_a_row = None, 0
            self._announce()
        return problem

    async def judge(self, task: Task, verdict: Verdict) -> Verdict:
        """Charge no task with a failure that a sick machine explains.

        Called once the task's own files are gone: a disk that it had filled itself is free again.
        """
        if isinstance(verdict, HandedBack) or not verdict.failed:
            self._in_a_row = 0
            return verdict
        problem = None if verdict.category in _OF_THE_TASK else await self.look()
        return self.give_back(task, problem) if problem else verdict

    def note(self, problem: str) -> None:
        """Count a trouble; after some in a row no more tasks are taken."""
        self._in_a_row += 1
        logger.error("machine is in trouble", extra={"error": problem})
        if self._in_a_row >= MOST_IN_A_ROW:
            self._rests_until = self._clock.monotonic() + LEAST_REST_SECONDS
            self._fall_ill(problem)

    def give_back(self, task: Task, problem: str) -> Verdict:
        """Give the attempt back, after a pause that grows with each trouble in a row."""
        self.note(problem)
        delay_ms = min(FIRST_DELAY_MS * 2 ** (self._in_a_row - 1), LONGEST_DELAY_MS)
        back = given_back(problem, delay_ms=delay_ms)
        if task.fence - task.attempt >= MOST_GIVEN_BACK:
            return failed(category=FailureCategory.SERVER_ERROR, error=back.reason)
        return back

    def _fall_ill(self, problem: str) -> None:
        if self.sick is None:
            logger.critical("machine is sick: no more tasks are taken", extra={"reason": problem})
            self._announce()
        self.sick = problem

    def _announce(self) -> None:
        if self._changed:
            self._changed.set()


def given_back(problem: str, *, delay_ms: int = FIRST_DELAY_MS) -> HandedBack:
    reason = f"the worker's machine is in trouble: {problem}"
    return HandedBack(reason=reason, delay_ms=delay_ms)


def not_started(problem: OSError) -> Concluded:
    """Conclude an attempt whose child did not start; raise a problem of the machine again."""
    if machine_trouble(problem):
        raise problem
    return failed(
        category=FailureCategory.SERVER_ERROR,  # another worker may be better off
        error=f"the child could not be started: {type(problem).__name__}: {problem}",
    )
