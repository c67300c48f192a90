"""Runs one task through a stage, from the API to the event log, and notes when each step happened.

It has a tenant of its own. Its task is answered by the offline agent, so it costs no tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from switchyard.client.errors import ClientError
from switchyard.client.job import Job
from switchyard.client.patience import patiently
from switchyard.client.statuses import COMPLETED, FINAL
from switchyard.contracts.definitions import TaskDefinition
from switchyard.domain.errors import SwitchyardError
from switchyard_cli.actions.verify import Verifier
from switchyard_cli.errors import CliError
from switchyard_cli.stages import Stage
from switchyard_cli.views.wording import sentence

if TYPE_CHECKING:
    from switchyard.contracts.jobs import JobView
    from switchyard.ports import Clock
    from switchyard_cli.connections.api import Api

DEFINITION_NAME: Final = "smoke"
TASK_ID: Final = "smoke"
TASK_TIMEOUT_MS: Final = 60_000
DEFINITION: Final = TaskDefinition(
    description="Answer anything. This task checks that a deployment works.",
    tag="smoke check",
    timeout=TASK_TIMEOUT_MS,
    backend="offline",
)
SECONDS_BETWEEN_LOOKS: Final = 1.0


class Step(StrEnum):
    """The steps that a smoke check has to see, in this order."""

    KEY = "API key issued"
    API = "API answers"
    ACCEPTED = "job accepted"
    QUEUED = "task queued"
    WORKER = "worker there"
    RUNNING = "task runs"
    COMPLETED = "job completed"
    LOGGED = "event log complete"
    REVOKED = "API key revoked"


ADVICE: Final = {
    Step.KEY: "Is the stage deployed, and may your AWS credentials write to its table of API keys?",
    Step.API: "Look at the logs of the functions api and authorize, and at the stack producer-api.",
    Step.ACCEPTED: "Look at the log of the function api.",
    Step.QUEUED: "Look at the log of the function dispatch and at `switchyard dlq{option}`: does "
    "the rule bring events to the dispatch queue, and its mapping messages to the function?",
    Step.WORKER: "Look at `switchyard doctor{option}`: does the service start tasks, does its "
    "image exist, is its secret there, has the scaling alarm fired?",
    Step.RUNNING: "Look at `switchyard doctor{option}` (is consumption paused?) and at the log of "
    "the workers.",
    Step.COMPLETED: "Look at `switchyard health{option}` and at the log of the workers.",
    Step.LOGGED: "Look at the log of the function save-event and at `switchyard dlq{option}`.",
    Step.REVOKED: "Look at `switchyard keys list {tenant}{option}`, and revoke it there.",
}


class StepFailed(Exception):
    """A step did not happen."""

    def __init__(self, step: Step, problem: str) -> None:
        super().__init__(problem)
        self.step = step
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Reached:
    step: Step
    seconds: float
    """The seconds since the check began."""


@dataclass(kw_only=True)
class SmokeCheck:
    clock: Clock
    timeout_seconds: float
    report: Callable[[Reached], None]
    """Called with each step as it happens."""
    workers_present: Callable[[], int]
    reached: list[Reached] = field(default_factory=list)
    job_id: str | None = None

    def __post_init__(self) -> None:
        self._began = self.clock.monotonic()

    @property
    def seconds(self) -> float:
        return self.clock.monotonic() - self._began

    def run(self, api: Api, *, submission_key: str) -> None:
        """Raise `StepFailed`."""
        with self.taking(Step.API):
            patiently(lambda: api.put_definition(DEFINITION_NAME, DEFINITION), self.clock)
        with self.taking(Step.ACCEPTED):
            job = Job("smoke check")
            job.task(TASK_ID, name=DEFINITION_NAME)
            accepted = patiently(
                lambda: api.submit(job.submission(), key=submission_key), self.clock
            )
            self.job_id = accepted.job_id
        self._follow(api, accepted.job_id)
        with self.taking(Step.LOGGED):
            self._verify(api, accepted.job_id)

    @contextmanager
    def taking(self, step: Step) -> Iterator[None]:
        """Note the step at the end of the block; a failure in it is that of the step."""
        try:
            yield
        except (CliError, ClientError, SwitchyardError) as error:
            raise StepFailed(step, sentence(error)) from error
        self._reach(step)

    def _follow(self, api: Api, job_id: str) -> None:
        """Wait until the job has completed, and note each step that is seen on the way."""
        waiting_for = [Step.QUEUED, Step.WORKER, Step.RUNNING, Step.COMPLETED]
        while waiting_for:
            with self._failing_at(waiting_for[0]):
                job = patiently(lambda: api.job(job_id), self.clock)
                came_to = self._progress(job)
            while waiting_for and waiting_for[0] in came_to:
                self._reach(waiting_for.pop(0))
            if not waiting_for:
                return
            if job.status in FINAL:
                raise StepFailed(Step.COMPLETED, _how_it_ended(job))
            if self.seconds >= self.timeout_seconds:
                limit = f"{self.timeout_seconds:g}"
                raise StepFailed(waiting_for[0], f"It did not happen within {limit} seconds.")
            self.clock.sleep(SECONDS_BETWEEN_LOOKS)

    @contextmanager
    def _failing_at(self, step: Step) -> Iterator[None]:
        try:
            yield
        except (CliError, ClientError, SwitchyardError) as error:
            raise StepFailed(step, sentence(error)) from error

    def _progress(self, job: JobView) -> set[Step]:
        """Return the steps taken so far; a task that runs was queued and has a worker."""
        (task,) = job.tasks
        if job.status == COMPLETED:
            return {Step.QUEUED, Step.WORKER, Step.RUNNING, Step.COMPLETED}
        if task.started_at is not None:
            return {Step.QUEUED, Step.WORKER, Step.RUNNING}
        if task.status == "waiting":
            return set()
        return {Step.QUEUED, Step.WORKER} if self.workers_present() else {Step.QUEUED}

    def _verify(self, api: Api, job_id: str) -> None:
        """Wait for events that are late; what differs otherwise stays different."""
        while not (found := Verifier(api, self.clock).verify(job_id)).agree:
            late = any(difference.may_be_delay for difference in found.differences)
            if not late or self.seconds >= self.timeout_seconds:
                paths = ", ".join(difference.path for difference in found.differences)
                problem = f"The event log does not agree with the state table: {paths}."
                raise StepFailed(Step.LOGGED, problem)

    def _reach(self, step: Step) -> None:
        reached = Reached(step, self.seconds)
        self.reached.append(reached)
        self.report(reached)


def advice(step: Step, stage: Stage, *, tenant: str) -> str:
    return ADVICE[step].format(option=stage.option, tenant=tenant)


def _how_it_ended(job: JobView) -> str:
    (task,) = job.tasks
    return f"The job ended as {job.status}: {task.error or 'without an error'}."
