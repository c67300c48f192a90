"""A whole harness in virtual time: API, dispatcher, save-event, sweeper and workers, in weather."""

import json
from dataclasses import replace
from typing import Any, ClassVar, Final

from switchyard.adapters.dynamodb.definition_store import DynamoDbDefinitionStore
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.s3 import S3BlobStore
from switchyard.contracts.dispatch_messages import WAKING_EVENTS
from switchyard.contracts.jobs import SubmitJob
from switchyard.contracts.tables import DUE_AT
from switchyard.domain.access.limits import WIDEST_CEILINGS
from switchyard.domain.ids import JobRef, TaskRef, bare_task
from switchyard.domain.jobs.job import Job
from switchyard.domain.states import JobState, TaskState
from switchyard.usecases.definitions.put_definition import put_definition
from tests.builders import a_definition
from tests.fakes.tables import BUCKET
from tests.simulation.asking import Call, adding, cancelling, cancelling_task, redriving
from tests.simulation.checks.history import History
from tests.simulation.cloud.cloud import Cloud
from tests.simulation.jobs import NESTED, TENANTS, drawn_job, submission, the_template
from tests.simulation.kernel.node import Node
from tests.simulation.kernel.world import World
from tests.simulation.reference import AGAIN, Declared
from tests.simulation.script import Script
from tests.simulation.scripted.changes import CHANGES, Change, newcomers, selection
from tests.simulation.stage.functions import (
    SWEEP_SECONDS,
    TIMEOUT_SECONDS,
    EventSourceMapping,
    Invocations,
    dispatch,
    keep,
    process_dead_letter,
    sweep,
)
from tests.simulation.stage.workers import ChildRun, SimulatedWorker
from tests.simulation.weather import Weather, drawn

STORM_SECONDS: Final = 900.0
LONGEST_CALM_SECONDS: Final = 6 * 3600.0
SLOWEST_REPLACEMENT_SECONDS: Final = 60.0
LONGEST_SICKNESS_SECONDS: Final = 300.0
MOST_TASKS: Final = 8


class Harness:
    nests: ClassVar[bool] = True
    """Whether there is the template of a job."""

    def __init__(
        self,
        seed: int,
        *,
        weather: Weather | None = None,
        workers: int = 3,
        script: Script | None = None,
        clock_skew: float | None = None,
    ) -> None:
        """`clock_skew` replaces that of the weather, in seconds."""
        self.world = World(seed)
        self.dice = self.world.dice
        self.weather = weather or drawn(self.dice)
        if clock_skew is not None:
            self.weather = replace(self.weather, clock_skew=clock_skew)
        self.cloud = Cloud(self.world, self.weather, waking_events=WAKING_EVENTS)
        self.history = History(self.world, self.cloud)
        self.children: list[ChildRun] = []
        self.bugs: list[BaseException] = []
        self.poison: list[str] = []
        self.foreign: list[TaskRef] = []
        self.invocations = Invocations(self.world, self.cloud, self.new_node, self.bugs)
        self.recoveries: list[float] = []
        """How long after each storm, or change in the calm, the last task was settled."""
        self._script = script or Script(self.dice)
        self._define()
        self.dispatcher = EventSourceMapping(
            "dispatcher", self.cloud.dispatch, self.invocations, dispatch
        )
        self.dispatcher.start()
        for name, queue, handle in (
            ("save-event", self.cloud.event_queue, keep),
            ("dead-letters", self.cloud.dead_letters, process_dead_letter),
        ):
            EventSourceMapping(name, queue, self.invocations, handle).start()
        self._sweep_for_ever()
        for _ in range(workers):
            self.new_worker()

    def new_node(self, kind: str, *, ahead: float | None = None) -> Node:
        """Add a node whose clock is `ahead` by so many seconds, or as the weather draws."""
        drawn_ahead = self.dice.uniform(-1, 1) * self.cloud.weather.clock_skew
        skew = round(1000 * (drawn_ahead if ahead is None else ahead))
        return Node(self.world, f"{kind}-{self.world.number(kind)}", skew_ms=skew)

    def new_worker(self, *, ahead: float | None = None) -> SimulatedWorker:
        node = self.new_node("worker", ahead=ahead)
        node.on_death.append(self._replace_worker)
        worker = SimulatedWorker(node, self.cloud, self._script, self.children, self.bugs.append)
        worker.start()
        self._stop_some_day(worker)
        return worker

    def submit(self, job: SubmitJob | None = None) -> None:
        job = job or drawn_job(self.dice, at_most=MOST_TASKS)
        tenant = self.dice.choice(TENANTS)
        self.invocations.invoke("api", submission(tenant, job, self.dice))

    def send_poison(self) -> None:
        """What no worker will ever understand."""
        body = f"{{not json {self.world.number('poison')}"
        self.poison.append(body)
        self.cloud.tasks.put(body)

    def send_foreign(self) -> None:
        """Another producer's task, large or small."""
        name = f"order-{self.world.number('order')}"
        given = "x" * self.dice.choice((10, 5_000))
        body = {"name": "scrape", "input": given, "dependencyOutputs": {"earlier": name}}
        attribute = {"DataType": "String", "StringValue": name}
        self.foreign.append(bare_task(TENANTS[0], name))
        self.cloud.tasks.put(json.dumps(body), attributes={"requestId": attribute})

    def change(self, change: Change | None = None) -> None:
        """Somebody asks for it, or for anything, of any job."""
        accepted = [j for j in self.history.jobs.values() if j.state is not JobState.WRITING]
        if accepted:
            job = self.dice.choice(accepted)
            asked = self._asked(change or self.dice.choice(CHANGES), job)
            self.invocations.invoke("api", asked)

    def change_in_calm(self, change: Change) -> None:
        self.change(change)
        self.world.run_until(lambda: False, look_every=1.0, at_most=TIMEOUT_SECONDS)
        self.settle()

    def states_of(self, job: Job) -> dict[str, TaskState]:
        """Return the states of the tasks that people see."""
        return {
            ref.task_id: versions[-1].new.state
            for ref, versions in self.history.tasks.items()
            if ref.job == job.ref and self.history.is_visible(ref)
        }

    def run(self, *, jobs: int, storm_seconds: float = STORM_SECONDS) -> None:
        """Submit through a storm, then wait in calm weather until everything is settled."""
        for _ in range(jobs):
            self.world.after(self.dice.uniform(0, storm_seconds / 2), self.submit)
        self.world.run_until(lambda: False, look_every=storm_seconds, at_most=storm_seconds)
        self.cloud.clear_up()
        self.settle()

    def settle(self) -> None:
        began = self.world.now
        self.world.report("harness", "CALM")
        self.world.run_until(self._is_quiet, look_every=5.0, at_most=LONGEST_CALM_SECONDS)
        last = max((v[-1].at for v in self.history.tasks.values()), default=0.0)
        self.recoveries.append(last - began)

    def output_of(self, task: TaskRef) -> Any:
        """Return the output as it is stored, seen from outside."""
        table = DynamoDbTable(self.cloud.dynamodb, self.cloud.state)
        payloads = DynamoDbPayloads(table, S3BlobStore(self.cloud.s3, BUCKET))
        return payloads.read(task).output

    def close(self) -> None:
        self.world.end()

    def newcomers(self, job: Job) -> list[Declared]:
        known = sorted(name for name in self.states_of(job) if "[" not in name)
        return newcomers(self.dice, known, number=self.world.number("addition"))

    def selection(self, job: Job) -> frozenset[str]:
        selected = selection(self.dice, self.states_of(job))
        if any(name.startswith(AGAIN) for name in selected):
            self.history.asked_again.add(job.ref)
        return selected

    def to_cancel(self, what: JobRef | TaskRef) -> None:
        """Somebody asks for it."""

    def _asked(self, change: Change, job: Job) -> Call:
        match change:
            case Change.ADD:
                return adding(job.ref, self.newcomers(job))
            case Change.REDRIVE:
                return redriving(job.ref, self.selection(job))
            case Change.CANCEL_JOB:
                self.to_cancel(job.ref)
                return cancelling(job.ref)
            case Change.CANCEL_TASK:
                task = job.ref.task(self.dice.choice(sorted(self.states_of(job))))
                self.to_cancel(task)
                return cancelling_task(task)

    def _is_quiet(self) -> bool:
        """Whether nothing is due, and every event has been dispatched and saved."""
        if self.cloud.bus.under_way or self.cloud.dispatch.messages:
            return False
        if self.cloud.dead_letters.messages or self._is_awaited():
            return False
        items = self.cloud.dynamodb.items(self.cloud.state)
        return not self.cloud.event_queue.messages and not any(DUE_AT in item for item in items)

    def _is_awaited(self) -> bool:
        """A message that no due time would bring back is still to be received."""
        waiting = {message.body for message in self.cloud.tasks.messages.values()}
        unknown = any(ref not in self.history.tasks for ref in self.foreign)
        return unknown or not waiting.isdisjoint(self.poison)

    def _define(self) -> None:
        definitions = DynamoDbDefinitionStore(
            DynamoDbTable(self.cloud.dynamodb, self.cloud.definitions)
        )
        for tenant in TENANTS:
            definitions.put(tenant, "scrape", a_definition())
            if self.nests:
                put_definition(
                    tenant,
                    NESTED["name"],
                    the_template(),
                    definitions=definitions,
                    ceilings=WIDEST_CEILINGS,
                )

    def _sweep_for_ever(self) -> None:
        """Now and then two at once."""
        for _ in range(2 if self.world.chance(0.1) else 1):
            self.invocations.invoke("sweeper", sweep)
        self.world.after(SWEEP_SECONDS, self._sweep_for_ever)

    def _replace_worker(self) -> None:
        pause = self.dice.uniform(1, SLOWEST_REPLACEMENT_SECONDS)
        self.world.after(pause, self.new_worker)

    def _stop_some_day(self, worker: SimulatedWorker) -> None:
        if not worker.node.alive:
            return
        if self.world.chance(self.cloud.weather.stopped):
            self.world.report(worker.node.name, "SIGTERM")
            worker.stop.ask()
            return
        if self.world.chance(self.cloud.weather.sick):
            worker.node.fall_ill(self.dice.uniform(0, LONGEST_SICKNESS_SECONDS))
        self.world.after(60.0, self._stop_some_day, worker)
