"""What the state table holds, in memory, under one lock."""

import threading
from dataclasses import dataclass, field

from switchyard.domain.ids import JobRef, TaskRef
from switchyard.domain.jobs.job import Job
from switchyard.domain.tasks.task import Payload, Task


@dataclass
class MemoryState:
    jobs: dict[JobRef, Job] = field(default_factory=dict)
    tasks: dict[TaskRef, Task] = field(default_factory=dict)
    dependents: dict[TaskRef, tuple[str, ...]] = field(default_factory=dict)
    payloads: dict[TaskRef, Payload] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)
