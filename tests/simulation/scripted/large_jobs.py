"""A job of many tasks that is cancelled while workers drain it."""

from dataclasses import dataclass

from switchyard.contracts.jobs import SubmitJob
from switchyard.domain.ids import JobRef
from switchyard.domain.states import JobState
from tests.simulation.asking import cancelling
from tests.simulation.harness import Harness
from tests.simulation.jobs import TENANTS, submission

NAME = "wide"
SECONDS_BETWEEN_REQUESTS = 10.0


def wide_job(width: int) -> SubmitJob:
    tasks = [{"taskId": f"t{number:03}", "name": "scrape"} for number in range(width)]
    last = {"taskId": "z-last", "name": "scrape", "dependsOn": ["t000", "t001"]}
    return SubmitJob.model_validate({"name": NAME, "tasks": [*tasks, last]})


def find_wide_job(harness: Harness) -> JobRef | None:
    return next((ref for ref, job in harness.history.jobs.items() if job.name == NAME), None)


@dataclass(frozen=True, slots=True)
class LargeJob:
    harness: Harness
    width: int

    def submit(self, *, cancel_after: float) -> None:
        """Submit the job now; ask for its cancellation after so many seconds."""
        harness = self.harness
        harness.world.report("harness", f"LARGE JOB of {self.width} tasks")
        submit = submission(TENANTS[0], wide_job(self.width), harness.dice)
        harness.invocations.invoke("api", submit)
        harness.world.after(cancel_after, self._cancel)

    def _cancel(self) -> None:
        """Ask again until it is accepted: in bad weather a request may be lost."""
        ref = find_wide_job(self.harness)
        if ref is None or self.harness.history.jobs[ref].state is not JobState.OPEN:
            return
        if (ref, self.harness.history.jobs[ref].run) not in self.harness.history.cancelled_at:
            self.harness.invocations.invoke("api", cancelling(ref))
            self.harness.world.after(SECONDS_BETWEEN_REQUESTS, self._cancel)
