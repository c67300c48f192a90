"""Workers that say that they are there."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from switchyard.domain.tasks.task import milliseconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    since_ms: int
    reason: str | None = None


REPORTED_EVERY: Final = timedelta(seconds=60)
THERE_FOR_MS: Final = milliseconds(2.5 * REPORTED_EVERY)  # one word may be lost


@dataclass(frozen=True, slots=True, kw_only=True)
class PresentWorker:
    worker_id: str
    started_at_ms: int
    seen_at_ms: int
    slots: int
    busy: int
    version: str
    release: str | None = None
    """The revision of the task definition that it was started from, where there is one."""
    draining: bool = False
    """Whether it was replaced: it finishes its tasks and takes no other."""
    busy_until_ms: int | None = None
    """The end of the time limits of all its attempts; uploading may take some minutes more."""
    sick: str | None = None
    """The resource that the worker's machine lacks, while that keeps it from taking tasks."""
    backend: str | None = None
    """The agent of tasks whose definition names none: `offline`, or one that calls Claude."""
    functions: tuple[str, ...] = ()
    """The packages of functions that it serves, each with the beginning of its hash."""
    pool: str | None = None
    """The pool that it belongs to; `None` of a version that knew no pools."""
    subscriptions: tuple[str, ...] = ()
    """The groups that its pool serves, with their weights."""
    when_empty: str | None = None
    """What it does when these groups have no work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """The state that a worker reports about itself while it runs."""

    busy: int
    release: str | None = None
    draining: bool = False
    busy_until_ms: int | None = None
    sick: str | None = None


def those_there(workers: Iterable[PresentWorker], *, now_ms: int) -> list[PresentWorker]:
    """Return the workers that reported lately; one whose clock is ahead counts as well."""
    return [worker for worker in workers if now_ms - worker.seen_at_ms <= THERE_FOR_MS]
