"""The content of the state table, in memory, under one lock."""

import threading
from dataclasses import dataclass, field, replace

from switchyard.domain.ids import JobRef, TaskRef
from switchyard.domain.jobs.job import Job
from switchyard.domain.scheduling.limits import Limit, LimitRef
from switchyard.domain.tasks.task import Json, Payload, Task
from switchyard.domain.transition import (
    Transition,
    TransitionRefused,
    applied,
    attempt,
    holds,
)


@dataclass
class MemoryState:
    jobs: dict[JobRef, Job] = field(default_factory=dict)
    tasks: dict[TaskRef, Task] = field(default_factory=dict)
    dependents: dict[TaskRef, tuple[str, ...]] = field(default_factory=dict)
    payloads: dict[TaskRef, Payload] = field(default_factory=dict)
    limits: dict[LimitRef, Limit] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)

    def write_task(self, ref: TaskRef, transition: Transition) -> Task | TransitionRefused[Task]:
        """Return the task as the transition leaves it, also if it was written before."""
        with self.lock:
            answer = attempt(self.tasks.get(ref), transition)
            if isinstance(answer, Task):
                self.tasks[ref] = answer
            return answer

    def limit(self, ref: LimitRef) -> Limit:
        """Return a limit as it is; one that nobody has met is free."""
        return self.limits.get(ref, Limit())

    def write_together(self, *writes: tuple[TaskRef | LimitRef, Transition]) -> bool:
        """Write all of them, or nothing: `False` if the guard of one does not hold."""
        with self.lock:
            if not all(holds(transition.guard, self._found(ref)) for ref, transition in writes):
                return False
            for ref, transition in writes:
                self._apply(ref, transition)
            return True

    def _found(self, ref: TaskRef | LimitRef) -> Task | Limit | None:
        return self.limit(ref) if isinstance(ref, LimitRef) else self.tasks.get(ref)

    def _apply(self, ref: TaskRef | LimitRef, transition: Transition) -> None:
        if isinstance(ref, LimitRef):
            self.limits[ref] = applied(self.limit(ref), transition)
        elif ref in self.tasks:
            self.tasks[ref] = applied(self.tasks[ref], transition)

    def store_output(self, ref: TaskRef, output: Json) -> None:
        """Keep what a task made beside what it was given."""
        self.payloads[ref] = replace(self.payloads[ref], output=output)

    def write_job(self, ref: JobRef, transition: Transition) -> Job | TransitionRefused[Job]:
        """Return the job as the transition leaves it, also if it was written before."""
        with self.lock:
            answer = attempt(self.jobs.get(ref), transition)
            if isinstance(answer, Job):
                self.jobs[ref] = answer
            return answer
