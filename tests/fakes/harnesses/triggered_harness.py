"""A harness in memory whose jobs triggers start."""

from typing import Any

from switchyard.contracts.messages import Delivered
from switchyard.contracts.triggers import Trigger, TriggerRun
from switchyard.domain.ids import JobRef
from switchyard.domain.jobs.job import Job
from switchyard.domain.states import JobState
from switchyard.testing import ManualClock, MemoryHarness
from switchyard.testing.triggers import MemoryTriggerStore
from switchyard.usecases.dead_letters.park_message import MessageParking
from switchyard.usecases.triggers.start_triggered import Dropped, Parked, Started, TriggerStarter
from tests.builders import NOW_MS, TENANT, a_definition
from tests.fakes.harnesses.submitting import a_submitter

PATTERN = {"detail": {"eventType": ["Job Completed"]}}
ON_JOBS: dict[str, Any] = {"bus": "switchyard", "pattern": PATTERN}
CHAINED: dict[str, Any] = ON_JOBS | {"chained": True}
REPORT: dict[str, Any] = {"name": "report", "tasks": [{"taskId": "tell", "name": "scrape"}]}


class CountedIds:
    def __init__(self) -> None:
        self.given = 0

    def new_job_id(self) -> str:
        self.given += 1
        return f"job-00000000-0000-4000-8000-{self.given:012}"

    def new_worker_id(self) -> str:
        return "worker-1"

    def new_secret(self) -> str:
        return "secret"


class TriggeredHarness:
    def __init__(self, *triggers: Trigger) -> None:
        self.clock = ManualClock(NOW_MS)
        self.memory = MemoryHarness(self.clock)
        self.memory.definitions.put(TENANT, "scrape", a_definition())
        self.store = MemoryTriggerStore()
        for trigger in triggers:
            self.store.put(TENANT, trigger, now_ms=NOW_MS)
        self.starter = TriggerStarter(
            triggers=self.store,
            jobs=self.memory.jobs,
            submitter=a_submitter(self.memory, clock=self.clock, ids=CountedIds()),
            parking=MessageParking(
                blobs=self.memory.blobs, clock=self.clock, queue="trigger-queue-test"
            ),
            clock=self.clock,
            bucket="ours",
        )

    def start(self, body: str, message_id: str = "m-1") -> Started | Dropped | Parked:
        message = Delivered(body=body, message_id=message_id, sent_at_ms=NOW_MS)
        return self.starter.start(message)

    def started(self, body: str) -> Job:
        done = self.start(body)
        assert isinstance(done, Started), done
        return self.job(done.job_id)

    def job(self, job_id: str) -> Job:
        job = self.memory.jobs.find(JobRef(TENANT, job_id))
        assert job is not None
        return job

    def last_run(self, name: str = "uploads") -> TriggerRun | None:
        found = self.store.find(TENANT, name)
        assert found is not None
        return found.last_run

    @property
    def stored(self) -> list[str]:
        return [key for key in self.memory.blobs.blobs if key.startswith("parked/")]

    @property
    def jobs(self) -> int:
        """How many were started."""
        return sum(job.state is not JobState.WRITING for job in self.memory.state.jobs.values())


def about(job: Job, number: int = 2) -> dict[str, Any]:
    """Return the event that the job has completed, as our bus delivers it."""
    detail = {
        "tenantId": TENANT,
        "entityId": job.ref.job_id,
        "eventType": "Job Completed",
        "eventId": f"0d1c8ab2-4b7e-5a39-9d3e-{number:012}",
    }
    return {"id": f"e-{number}", "time": "2026-11-16T08:00:00Z", "detail": detail}
