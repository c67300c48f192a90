"""A harness in memory that only a sweeper looks after."""

from switchyard.domain.ids import JobRef
from switchyard.domain.jobs.overdue import Action
from switchyard.domain.tasks.task import Task
from switchyard.ports import Claimed
from switchyard.usecases.dispatching.sweep import Nudge, Sweeper
from tests.builders import TENANT, a_submission
from tests.fakes.harnesses.job_harness import Harness

CHAIN: dict[str, list[str]] = {"a": [], "b": ["a"]}
MINUTE, HOUR = 60, 3600


class SweptHarness(Harness):
    def sweeper(self) -> Sweeper:
        return Sweeper(
            overdue=self.memory.overdue,
            jobs=self.memory.jobs,
            graph=self.memory.graph,
            payloads=self.memory.payloads,
            open_tasks=self.memory.open_tasks,
            queue=self.memory.queue,
            dispatches=self.memory.dispatches,
            starter=self.starter,
            index=self.memory.ready,
            emitter=self.emitter,
            clock=self.clock,
        )

    def sweep(self, *, after: float = 0, at_most: int = 99) -> list[Nudge]:
        """And let the dispatcher work off what that sent to it."""
        self.clock.advance(after)
        nudges = list(self.sweeper().sweep(at_most=at_most, seconds=20))
        self.work_off()
        return nudges

    def open(self, edges: dict[str, list[str]]) -> None:
        """Submitted; nobody has heard of it."""
        accepted = self.submit(a_submission(edges))
        self.job = JobRef(TENANT, accepted.job_id)

    def task(self, task_id: str) -> Task:
        task = self.memory.graph.find(self.job.task(task_id))
        assert task is not None
        return task

    def claim(self, task_id: str, *, lease_ms: int = 1000) -> Claimed:
        ref, now_ms = self.job.task(task_id), self.clock.now_ms()
        claimed = self.memory.leases.claim(ref, owner="w", now_ms=now_ms, lease_ms=lease_ms)
        assert isinstance(claimed, Claimed)
        return claimed


def actions(nudges: list[Nudge]) -> dict[str, Action]:
    return {getattr(n.ref, "task_id", "the job"): n.action for n in nudges}
