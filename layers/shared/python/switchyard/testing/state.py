"""The content of the state table, in memory, under one lock."""

import threading
from dataclasses import dataclass, field, replace

from switchyard.domain.ids import JobRef, TaskRef
from switchyard.domain.jobs.job import Job
from switchyard.domain.tasks.task import Json, Payload, Task
from switchyard.domain.transition import Transition, TransitionRefused, attempt


@dataclass
class MemoryState:
    jobs: dict[JobRef, Job] = field(default_factory=dict)
    tasks: dict[TaskRef, Task] = field(default_factory=dict)
    dependents: dict[TaskRef, tuple[str, ...]] = field(default_factory=dict)
    payloads: dict[TaskRef, Payload] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)

    def write_task(self, ref: TaskRef, transition: Transition) -> Task | TransitionRefused[Task]:
        """Return the task as the transition leaves it, also if it was written before."""
        with self.lock:
            answer = attempt(self.tasks.get(ref), transition)
            if isinstance(answer, Task):
                self.tasks[ref] = answer
            return answer

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
