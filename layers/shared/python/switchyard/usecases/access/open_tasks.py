"""Holds each tenant to so many open tasks.

Jobs that are submitted at the same moment do not see each other, and may pass the limit together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from switchyard.domain.access.open_tasks import (
    OpenJob,
    is_left_over,
    open_with,
    room_problems,
)
from switchyard.domain.errors import InvalidJob
from switchyard.domain.ids import JobRef
from switchyard.domain.jobs.job import Job
from switchyard.domain.text import in_slices
from switchyard.ports import Clock, JobStore, OpenTasks

CHECKED_AT_ONCE: Final = 100
MOST_CHECKED: Final = 500
"""Of the jobs that are counted, in one request that would be refused."""


@dataclass(frozen=True, kw_only=True)
class OpenTaskLimit:
    open_tasks: OpenTasks
    jobs: JobStore
    clock: Clock
    most: int

    def take(self, ref: JobRef, *, tasks: int, run: int = 1) -> None:
        """Count a new job. Raise `InvalidJob` if the tenant would have too many open tasks."""
        self.require_room(ref, tasks=tasks)
        self.open_tasks.note(ref, run=run, tasks=tasks, now_ms=self.clock.now_ms())

    def take_more(self, job: Job, *, added: int) -> None:
        """Count tasks that are added to a job; otherwise as `take`."""
        counted = self.open_tasks.of_tenant(job.ref.tenant)
        known = [one.tasks for one in counted if one.ref == job.ref]
        tasks = min([job.total_tasks, *known]) + added
        self._require_room(counted, job.ref, tasks)
        self.open_tasks.note(job.ref, run=job.run, tasks=tasks, now_ms=self.clock.now_ms())

    def require_room(self, ref: JobRef, *, tasks: int) -> None:
        """Raise `InvalidJob` if the job cannot have so many open tasks."""
        self._require_room(self.open_tasks.of_tenant(ref.tenant), ref, tasks)

    def _require_room(self, counted: Sequence[OpenJob], ref: JobRef, tasks: int) -> None:
        total = open_with(counted, ref, tasks)
        if total > self.most:
            total -= self._closed(counted, ref, enough=total - self.most)
        problems = room_problems(total, most=self.most)
        if problems:
            raise InvalidJob(problems)

    def _closed(self, counted: Sequence[OpenJob], ref: JobRef, *, enough: int) -> int:
        """Count no more what is left over, and return how many tasks that were.

        Whatever ended between a job's settling and its closing left it counted. Each request begins
        behind its own job's id, which is random, so that none is passed over for ever.
        """
        others = [job for job in counted if job.ref != ref]
        turned = [*(j for j in others if j.ref > ref), *(j for j in others if j.ref < ref)]
        closed = 0
        for some in in_slices(turned[:MOST_CHECKED], CHECKED_AT_ONCE):
            closed += self._close_left_over(some)
            if closed >= enough:
                break
        return closed

    def _close_left_over(self, some: Sequence[OpenJob]) -> int:
        now_ms = self.clock.now_ms()
        found = {job.ref: job for job in self.jobs.find_many([one.ref for one in some])}
        over = [one for one in some if is_left_over(one, found.get(one.ref), now_ms=now_ms)]
        for one in over:
            self.open_tasks.close(one.ref, run=one.run)
        return sum(one.tasks for one in over)
