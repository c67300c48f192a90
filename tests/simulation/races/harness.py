"""A job in the middle of its life, and only who moves it on: dispatcher, sweeper, hands."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from switchyard.adapters.dynamodb.definition_store import DynamoDbDefinitionStore
from switchyard.adapters.dynamodb.job_intake import DynamoDbJobIntake
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.task_leases import DynamoDbTaskLeases
from switchyard.adapters.parallel import OneByOne
from switchyard.adapters.s3 import S3BlobStore
from switchyard.contracts.dispatch_messages import WAKING_EVENTS
from switchyard.contracts.tables import DUE_AT
from switchyard.domain.ids import START, JobRef
from switchyard.domain.jobs.graph import TaskSpec
from switchyard.domain.jobs.plan import Pinned, plan_job
from switchyard.domain.states import JobState, TaskState
from switchyard.domain.tasks import due
from switchyard.domain.tasks.task import Lease, Task
from tests.builders import JOB, a_definition
from tests.fakes.tables import BUCKET
from tests.simulation import checker
from tests.simulation.checks.history import History
from tests.simulation.cloud.cloud import Cloud, Seen
from tests.simulation.cloud.eventbridge import BusFaults
from tests.simulation.cloud.sqs import QueueFaults
from tests.simulation.kernel.node import Node
from tests.simulation.kernel.world import EPOCH_MS, World
from tests.simulation.reference import Declared, outcome
from tests.simulation.scripted.workers import LEASE_MS, Hands, settle
from tests.simulation.stage.functions import (
    EventSourceMapping,
    Invocations,
    dispatch,
    sweep,
)
from tests.simulation.weather import Weather

WEATHER: Final = Weather(
    wake_ups_lost=0.1,
    answer_lost=0.01,
    queue=QueueFaults(duplicated=0.2),
    bus=BusFaults(duplicated=0.3),
)
ENDS: Final = (TaskState.COMPLETED, TaskState.COMPLETED, TaskState.FAILED, TaskState.TIMED_OUT)
LONGEST_SECONDS: Final = 50 * 60.0
"""Before any audit: what only that would find is lost."""
CRASHING: Final = ("dispatcher", "sweeper", "api")
SWEEP_SECONDS: Final = 150.0
"""Seldom: what is swept costs more than the race itself."""
LONGEST_FREEZE_SECONDS: Final = 8.0
LAST_WAY: Final = 18
"""To services and back: about as many as one of them takes before it is done."""

Call = Callable[[Seen], None]


class RaceHarness:
    def __init__(self, seed: int, *, crashes: int) -> None:
        self.world = World(seed)
        self.dice = self.world.dice
        self.cloud = Cloud(self.world, WEATHER, waking_events=WAKING_EVENTS)
        self.history = History(self.world, self.cloud)
        self.bugs: list[BaseException] = []
        self.answered = 0
        """How many requests to the API were answered well."""
        self.endings: dict[tuple[str, int], TaskState] = {}
        """How a task ends in a run; it completes unless something else is said."""
        self._crashes = self.dice.randint(0, crashes)
        self._invocations = Invocations(self.world, self.cloud, self._new_node, self.bugs)
        invocations = self._invocations
        EventSourceMapping("dispatcher", self.cloud.dispatch, invocations, dispatch).start()
        Hands(
            self.cloud.tasks,
            invocations,
            lambda task: self.ending(task.ref.task_id, task.run),
        ).start()
        self.world.after(SWEEP_SECONDS, self._sweep_for_ever)

    def ending(self, task_id: str, run: int) -> TaskState:
        return self.endings.get((task_id, run), TaskState.COMPLETED)

    def write(self, tasks: Iterable[Declared], *, held: Collection[str]) -> JobRef:
        """Write the tasks: those that are held are being run, the others wait for them."""
        table = DynamoDbTable(self.cloud.dynamodb, self.cloud.state, parallel=OneByOne())
        definitions = DynamoDbTable(self.cloud.dynamodb, self.cloud.definitions)
        DynamoDbDefinitionStore(definitions).put(JOB.tenant, "scrape", a_definition())
        specs = [
            TaskSpec(task_id=task.task_id, name="scrape", depends_on=task.parents, rule=task.rule)
            for task in tasks
        ]
        plan = plan_job(
            JOB, name="race", tags={}, specs=specs, pinned={"scrape": Pinned(1)}, now_ms=EPOCH_MS
        )
        opened = replace(plan.job, state=JobState.OPEN, due_at_ms=EPOCH_MS + due.JOB_AUDIT)
        under_way = [_under_way(task, held) for task in plan.tasks]
        intake = DynamoDbJobIntake(
            table, DynamoDbPayloads(table, S3BlobStore(self.cloud.s3, BUCKET))
        )
        intake.accept(opened)
        intake.write_part(replace(plan, tasks=tuple(under_way)))
        for name in held:
            DynamoDbTaskLeases(table).claim(
                JOB.task(name), owner=f"{name}/1", now_ms=EPOCH_MS, lease_ms=LEASE_MS
            )
        return JOB

    def settle_soon(self, task_id: str, *, within: float) -> None:
        """Let the task's worker be about to end it."""
        task = self.now(task_id)
        node = Node(self.world, task_id)
        lease = Lease(task, task.owner or "")

        def end(seen: Seen) -> None:
            leases = DynamoDbTaskLeases(seen.table(self.cloud.state))
            settle(seen, leases, lease, self.ending(task_id, task.run))

        self.world.after(self.dice.uniform(0, within), self._run, node, end)

    def call_soon(self, call: Call, *, within: float) -> None:
        """A request to the API."""

        def ask(seen: Seen) -> None:
            call(seen)
            self.answered += 1

        self.world.after(self.dice.uniform(0, within), self._invocations.invoke, "api", ask)

    def run(self, *, at_least: float = 0.0) -> None:
        """Run until nothing is due and nothing under way."""
        self.world.run_until(lambda: False, look_every=1.0, at_most=at_least)
        self.world.run_until(self._is_quiet, look_every=5.0, at_most=LONGEST_SECONDS)

    def close(self) -> None:
        self.world.end()

    def verdicts(self) -> dict[str, TaskState]:
        """Expect what was scripted, unless the weather took all attempts."""
        return {name: self._verdict(self.now(name)) for name in self.states()}

    def now(self, task_id: str) -> Task:
        return self.history.tasks[JOB.task(task_id)][-1].new

    def states(self) -> dict[str, TaskState]:
        return {
            ref.task_id: versions[-1].new.state
            for ref, versions in self.history.tasks.items()
            if not ref.hidden
        }

    def problems(self, expected: Mapping[str, TaskState]) -> Iterator[str]:
        """Invariants that did not hold, and ends that the reference does not know."""
        yield from map(repr, self.bugs)
        for check in _CHECKS:
            yield from check(self.history)
        states, job = self.states(), self.history.jobs[JOB]
        if states != dict(expected):
            yield f"ended {_emitted(states)}, expected {_emitted(expected)}"
        if job.state is not outcome(expected):
            yield f"the job is {job.state.value}, and should be {outcome(expected).value}"
        if self.cloud.dispatch_dead_letters.messages:
            yield "a wake-up of the dispatcher is among the dead letters"

    def _verdict(self, task: Task) -> TaskState:
        if task.state is TaskState.FAILED and task.attempt >= task.max_attempts:
            return TaskState.FAILED
        return self.ending(task.ref.task_id, task.run)

    def _new_node(self, kind: str) -> Node:
        node = Node(self.world, f"{kind}-{self.world.number(kind)}")
        if kind in CRASHING and self._crashes and self.world.chance(0.6):
            self._crashes -= 1
            node.fate[self.dice.randint(1, LAST_WAY)] = self._fate_of(node)
        elif kind == "api":
            seconds = self.dice.uniform(0, LONGEST_FREEZE_SECONDS / 2)
            node.fate[self.dice.randint(1, LAST_WAY)] = lambda: node.freeze(seconds)
        return node

    def _fate_of(self, node: Node) -> Callable[[], None]:
        """It dies, or goes on when others have done what it was about to do."""
        if self.world.chance(0.5):
            return lambda: node.kill("on purpose")
        return lambda: node.freeze(self.dice.uniform(0, LONGEST_FREEZE_SECONDS))

    def _run(self, node: Node, call: Call) -> None:
        running = node.start(lambda: call(self.cloud.seen_by(node, origin="worker")))
        running.add_done_callback(lambda done: done.cancelled() or done.exception())

    def _sweep_for_ever(self) -> None:
        self._invocations.invoke("sweeper", sweep)
        self.world.after(SWEEP_SECONDS, self._sweep_for_ever)

    def _is_quiet(self) -> bool:
        cloud = self.cloud
        if cloud.bus.under_way or cloud.dispatch.messages or cloud.tasks.messages:
            return False
        return not any(DUE_AT in item for item in cloud.dynamodb.items(cloud.state))


def _under_way(task: Task, held: Collection[str]) -> Task:
    name = task.ref.task_id
    if name == START:
        return replace(task, state=TaskState.COMPLETED, fence=1)
    if name not in held:
        return task
    return replace(
        task, state=TaskState.QUEUED, waiting_on=frozenset(), fence=1, ready_at_ms=EPOCH_MS
    )


def _emitted(states: Mapping[str, TaskState]) -> str:
    return ", ".join(f"{name} {state.value}" for name, state in sorted(states.items()))


_CHECKS: Sequence[Callable[[History], Iterator[str]]] = (
    checker.unsettled,
    checker.miscounted,
    checker.completed_twice,
    checker.reopened,
    checker.decided_twice,
    checker.changed_by_a_zombie,
    checker.run_though_cancelled,
    checker.beyond_their_attempts,
    checker.started_too_early,
)
