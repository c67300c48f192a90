"""A job under way with a fan-out: the test plays the workers."""

from typing import Any

from switchyard.contracts.jobs import SubmitJob
from switchyard.domain.ids import JobRef
from switchyard.domain.tasks.task import Outcome
from switchyard.ports import Claimed
from tests.builders import TENANT
from tests.fakes.harnesses.changed_harness import ChangedHarness
from tests.fakes.harnesses.job_harness import COMPLETED


class FanOutHarness(ChangedHarness):
    """`list` returns a list, `review` is made of it, `sum` follows."""

    def fan_out(self, items: Any = ("a", "b", "c"), **more: Any) -> None:
        self.begin(**more)
        self.complete("list", {"items": list(items) if isinstance(items, tuple) else items})

    def begin(self, **more: Any) -> None:
        review = {
            "taskId": "review",
            "name": "scrape",
            "dependsOn": ["list"],
            "forEach": "${tasks.list.output.items}",
            "input": {"file": "${item}", "number": "${index}"},
            **more,
        }
        tasks = [
            {"taskId": "list", "name": "scrape"},
            review,
            {"taskId": "sum", "name": "scrape", "dependsOn": ["review"]},
        ]
        accepted = self.submit(SubmitJob.model_validate({"name": "job", "tasks": tasks}))
        self.job = JobRef(TENANT, accepted.job_id)
        self.wake("__start__")

    def run_through(self, items: tuple[Any, ...]) -> None:
        """Complete the list and everything that is made of it."""
        self.complete("list", {"items": list(items)})
        for item in self.items():
            self.complete(item, item)

    def complete(self, task_id: str, output: Any, outcome: Outcome = COMPLETED) -> None:
        self.finish(task_id, output, outcome)
        self.work_off()

    def finish(self, task_id: str, output: Any = None, outcome: Outcome = COMPLETED) -> None:
        now_ms, ref = self.clock.now_ms(), self.job.task(task_id)
        answer = self.memory.leases.claim(ref, owner="w", now_ms=now_ms, lease_ms=1000)
        assert isinstance(answer, Claimed), answer
        self.memory.leases.settle(answer.lease, outcome, output=output, now_ms=now_ms)
        self.wake(task_id)

    def output(self, task_id: str = "review") -> Any:
        return self.memory.payloads.read(self.job.task(task_id)).output

    def input(self, task_id: str) -> Any:
        return self.memory.payloads.read(self.job.task(task_id)).input

    def error(self, task_id: str = "review") -> str:
        task = self.memory.state.tasks[self.job.task(task_id)]
        assert task.outcome is not None
        return task.outcome.error or ""

    def items(self) -> list[str]:
        return sorted(ref.task_id for ref in self.memory.state.tasks if ref.fan_out)
