"""A harness in memory whose job grows."""

from dataclasses import replace
from typing import Any

from switchyard.contracts.jobs import AddTasks, TasksAdded
from switchyard.domain.ids import END
from switchyard.domain.tasks.readiness import decide_readiness
from switchyard.domain.tasks.task import Outcome
from switchyard.ports import Claimed
from switchyard.usecases.jobs.add_tasks import TaskAdder
from tests.fakes.harnesses.job_harness import COMPLETED
from tests.fakes.harnesses.submitting import a_limit
from tests.fakes.harnesses.swept_harness import SweptHarness


class AddingHarness(SweptHarness):
    def __init__(self) -> None:
        super().__init__()
        self.adder = TaskAdder(
            jobs=self.memory.jobs,
            payloads=self.memory.payloads,
            additions=self.memory.additions,
            blobs=self.memory.blobs,
            definitions=self.memory.definitions,
            dispatches=self.memory.dispatches,
            emitter=self.emitter,
            clock=self.clock,
            open_tasks=a_limit(self.memory, clock=self.clock),
        )

    def add(self, edges: dict[str, list[str]]) -> TasksAdded:
        return self.adder.add(self.job, an_addition(edges))

    def run(self, *task_ids: str, outcome: Outcome = COMPLETED) -> None:
        """One after the other, and the dispatcher after each."""
        for task_id in task_ids:
            self.work_off()
            self.settle(task_id, outcome)
            self.work_off()

    def settle_only(self, task_id: str) -> None:
        """Nobody hears of it."""
        claimed = self.claim(task_id)
        assert isinstance(claimed, Claimed)
        self.memory.leases.settle(claimed.lease, COMPLETED, output=None, now_ms=self.clock.now_ms())

    def decide_end(self) -> None:
        """Decide as a dispatcher does that dies before it settles the job."""
        end = self.task(END)
        for token in end.waiting_on:
            end = self.memory.graph.remove_edges(end.ref, {token: True})
        self.memory.graph.decide(end, decide_readiness(end, {}), now_ms=self.clock.now_ms())

    def become(self, **facts: Any) -> None:
        self.memory.state.jobs[self.job] = replace(self.memory.state.jobs[self.job], **facts)


def an_addition(
    edges: dict[str, list[str]], *, name: str = "scrape", given: Any = None
) -> AddTasks:
    tasks = [
        {"taskId": t, "name": name, "dependsOn": parents, "input": given or {"for": t}}
        for t, parents in edges.items()
    ]
    return AddTasks.model_validate({"tasks": tasks})
