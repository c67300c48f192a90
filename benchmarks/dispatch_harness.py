"""Runs a job from its submission to its end: the real functions, and simulated workers."""

from collections.abc import Callable
from itertools import count
from typing import Any, Final

import pytest

from benchmarks.meter import Clients, Meter
from benchmarks.shapes import DEFINITION, outputs_of, seeded
from benchmarks.wakeups import OverheardEvents, OverheardSqs, WakeUps
from switchyard import bootstrap
from switchyard.adapters import aws
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.task_leases import DynamoDbTaskLeases
from switchyard.adapters.parallel import OneByOne, Threads
from switchyard.adapters.system import SystemClock
from switchyard.bootstrap.wiring import emitter_for
from switchyard.contracts.jobs import SubmitJob
from switchyard.domain.ids import JobRef, TaskRef
from switchyard.domain.states import JobState, TaskState
from switchyard.domain.tasks.task import Outcome
from switchyard.ports import Claimed
from switchyard.settings import ApiSettings, DispatcherSettings
from switchyard.usecases.events import task_events
from tests.builders import a_definition
from tests.fakes.tables import a_table, state_table

TENANT: Final = "bench"
WORKERS: Final = 10
"""The most tasks that settle between two invocations of the dispatcher."""
MESSAGES_PER_BATCH: Final = 10  # as its event source mapping says
NEVER_OVER: Final = 86_400  # seconds: what is counted must not depend on how fast this machine is
LEASE_MS: Final = 3_600_000

Fresh = Callable[[str], str]


class DispatchHarness:
    """`fresh` makes names that nothing else has in the AWS behind `clients`."""

    def __init__(self, clients: Clients, meter: Meter, *, fresh: Fresh = lambda name: name) -> None:
        self._meter = meter
        self._clock = SystemClock()
        self._dice = seeded()
        self._messages = count()
        self._ready: list[TaskRef] = []
        self._made: dict[str, Any] = {}
        names = _resources(clients, fresh)
        self._wake_ups = WakeUps(frozenset({names["dispatch_queue_url"], names["job_queue_url"]}))
        overheard = {
            "sqs": OverheardSqs(clients("sqs"), self._wake_ups),
            "events": OverheardEvents(clients("events"), self._wake_ups),
        }
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(aws, "client", lambda name: overheard.get(name) or clients(name))
            self._api = bootstrap.api_ports(ApiSettings(**names))
            settings = DispatcherSettings(**names, dispatch_seconds=NEVER_OVER)
            self._dispatcher = bootstrap.dispatcher(settings)
            self._emitter = emitter_for(settings, origin="worker")
        state = DynamoDbTable(clients("dynamodb"), settings.state_table_name)
        self._leases = DynamoDbTaskLeases(state)
        self._api.definitions.put(TENANT, DEFINITION, a_definition())

    def run(self, job: SubmitJob) -> None:
        """Run without threads: they change no count, and would only wait for each other."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Threads, "each", OneByOne.each)
            self._run(job)

    def _run(self, job: SubmitJob) -> None:
        self._made = outputs_of(job)
        with self._meter.counting():
            accepted = self._api.submitter.submit(TENANT, job)
        self._dispatch()
        while self._ready:
            for ref in self._any_ready():
                self._work_on(ref)
            self._dispatch()
        found = self._api.jobs.find(JobRef(TENANT, accepted.job_id))
        if found is None or found.state is not JobState.COMPLETED:
            raise SystemExit(f"nothing is ready, and the job is not completed: {found}")

    def _any_ready(self) -> list[TaskRef]:
        """Take some ready tasks, in random order."""
        taken = []
        for _ in range(min(WORKERS, len(self._ready))):
            chosen = self._dice.randrange(len(self._ready))
            self._ready[chosen], self._ready[-1] = self._ready[-1], self._ready[chosen]
            taken.append(self._ready.pop())
        return taken

    def _work_on(self, ref: TaskRef) -> None:
        now_ms = self._clock.now_ms()
        answer = self._leases.claim(ref, owner="worker/1", now_ms=now_ms, lease_ms=LEASE_MS)
        if not isinstance(answer, Claimed):
            raise SystemExit(f"{ref.task_id} was sent, but cannot be claimed: {answer}")
        outcome = Outcome(state=TaskState.COMPLETED)
        output = self._made.get(ref.task_id, {"of": ref.task_id})
        settled = self._leases.settle(answer.lease, outcome, output=output, now_ms=now_ms)
        self._emitter.emit(task_events.settled(settled, output=output))

    def _dispatch(self) -> None:
        """Dispatch until nothing is left in the queue."""
        while bodies := self._wake_ups.for_dispatcher(at_most=MESSAGES_PER_BATCH):
            batch = {str(next(self._messages)): body for body in bodies}
            with self._meter.counting():
                answers = self._dispatcher.handle(batch)
            for answer in answers.values():
                if isinstance(answer, Exception):
                    raise answer
        self._ready += self._wake_ups.for_workers()


def _resources(clients: Clients, fresh: Fresh) -> dict[str, Any]:
    """Make all that the functions need, by the names of their settings."""
    dynamodb, sqs, bucket = clients("dynamodb"), clients("sqs"), fresh("artifacts")
    clients("s3").create_bucket(Bucket=bucket)
    return {
        "stage": "bench",
        "eventbridge_bus_name": "default",
        "s3_bucket": bucket,
        "state_table_name": state_table(dynamodb, fresh("state")),
        "task_definitions_table": a_table(dynamodb, fresh("definitions")),
        "dynamodb_events_table_name": "unused",
        "trigger_queue_arn": "arn:aws:sqs:eu-west-1:123456789012:unused",
        "trigger_dead_letters_arn": "arn:aws:sqs:eu-west-1:123456789012:unused",
        "sqs_queue_url": sqs.create_queue(QueueName=fresh("tasks"))["QueueUrl"],
        "dispatch_queue_url": sqs.create_queue(QueueName=fresh("dispatches"))["QueueUrl"],
        "job_queue_url": sqs.create_queue(QueueName=fresh("jobs"))["QueueUrl"],
    }
