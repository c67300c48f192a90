"""A job with conditions and held tasks: the test plays the workers, the people and the clock."""

from typing import Any

from switchyard.contracts.changes import DecideTask, DecisionView, SignalTask, TaskDecided
from switchyard.contracts.jobs import SubmitJob
from switchyard.domain.ids import START, JobRef, TaskRef
from switchyard.domain.tasks.task import Outcome
from switchyard.ports import Claimed, Clock
from switchyard.testing import MemoryHarness
from switchyard.usecases.events.emitting import Emitter
from switchyard.usecases.jobs.decide_task import TaskDecider
from switchyard.usecases.jobs.held_task import HeldTaskReader
from tests.builders import TENANT
from tests.fakes.harnesses.job_harness import COMPLETED, OneJobId
from tests.fakes.harnesses.swept_harness import SweptHarness

WORKER = {"name": "scrape"}


class ManyIds(OneJobId):
    """Each request has an id of its own."""

    def __init__(self) -> None:
        self._number = 0

    def new_secret(self) -> str:
        self._number += 1
        return f"secret-{self._number}"


def a_reader(memory: MemoryHarness) -> HeldTaskReader:
    return HeldTaskReader(
        jobs=memory.jobs, graph=memory.graph, payloads=memory.payloads, blobs=memory.blobs
    )


def a_decider(memory: MemoryHarness, emitter: Emitter, clock: Clock) -> TaskDecider:
    return TaskDecider(
        reader=a_reader(memory),
        graph=memory.graph,
        emitter=emitter,
        clock=clock,
        ids=ManyIds(),
    )


class HeldHarness(SweptHarness):
    def __init__(self) -> None:
        super().__init__()
        self.decider = a_decider(self.memory, self.emitter, self.clock)

    def begin(self, **tasks: dict[str, Any]) -> JobRef:
        """Submit a job of these tasks and start what follows nothing."""
        described = [{"taskId": name, **task} for name, task in tasks.items()]
        accepted = self.submit(SubmitJob.model_validate({"name": "flow", "tasks": described}))
        self.job = JobRef(TENANT, accepted.job_id)
        self.wake(START)
        return self.job

    def complete(self, task_id: str, output: Any = None, outcome: Outcome = COMPLETED) -> None:
        now_ms = self.clock.now_ms()
        claim = self.memory.leases.claim(self.ref(task_id), owner="w", now_ms=now_ms, lease_ms=1000)
        assert isinstance(claim, Claimed)
        self.memory.leases.settle(claim.lease, outcome, output=output, now_ms=now_ms)
        self.wake(task_id)

    def view(self, task_id: str) -> DecisionView:
        return self.decider.reader.view(self.ref(task_id))

    def decide(self, task_id: str, *, approved: bool = True, **said: Any) -> TaskDecided:
        given = {"approved": approved, "basis": self.view(task_id).basis, **said}
        decided = self.decider.decide(self.ref(task_id), DecideTask(**given), by="key k1")
        self.wake(task_id)
        return decided

    def signal(self, task_id: str, **said: Any) -> TaskDecided:
        decided = self.decider.signal(self.ref(task_id), SignalTask(**said), by="key k1")
        self.wake(task_id)
        return decided

    def ref(self, task_id: str) -> TaskRef:
        return self.job.task(task_id)

    def output(self, task_id: str) -> Any:
        return self.memory.payloads.read(self.ref(task_id)).output
