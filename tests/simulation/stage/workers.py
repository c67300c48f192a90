"""The real worker loop, with attempts that only take time and come to scripted verdicts."""

import asyncio
import contextlib
import errno
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from switchyard.adapters.dynamodb.definition_store import DynamoDbDefinitionStore
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.scheduling.ready_index import DynamoDbReadyIndex
from switchyard.adapters.dynamodb.scheduling.start_limits import DynamoDbStartLimits
from switchyard.adapters.dynamodb.scheduling.tenant_clocks import DynamoDbTenantClocks
from switchyard.adapters.dynamodb.task_additions import DynamoDbTaskAdoption
from switchyard.adapters.dynamodb.task_leases import DynamoDbTaskLeases
from switchyard.bootstrap import WorkerPorts
from switchyard.domain.errors import Unavailable
from switchyard.domain.ids import TaskRef
from switchyard.domain.tasks.failures import FailureCategory
from switchyard.ports import Claimed
from switchyard.settings import WorkerSettings
from switchyard.testing.presence import MemoryDeployments, MemoryPauseSwitch, MemoryPresence
from switchyard.testing.transport import MemoryWebProbe
from switchyard.usecases.dead_letters.park_message import MessageParking
from switchyard.usecases.dispatching.adopt_task import Adopter
from switchyard.usecases.events import task_events
from switchyard_worker.guard.redaction import Redaction
from switchyard_worker.parent.attempts.assignments import Assignments
from switchyard_worker.parent.attempts.inputs import InputFinder
from switchyard_worker.parent.attempts.upload import Uploader, artifacts_prefix
from switchyard_worker.parent.attempts.verdict import HandedBack, Verdict, cancelled, failed
from switchyard_worker.parent.coroutines import first_of
from switchyard_worker.parent.health.machine import Machine
from switchyard_worker.parent.health.stop import Bugs, Stop
from switchyard_worker.parent.receive.lease import Keepalive, LeaseTiming, Watched
from switchyard_worker.parent.receive.loop import Loop
from switchyard_worker.parent.receive.rollout import Protection
from switchyard_worker.parent.receiving import intake_of, receive_loop, runtime_of
from switchyard_worker.parent.supervision.child_output import LastActivity
from tests.simulation.cloud.cloud import TASKS, Cloud
from tests.simulation.jobs import TENANTS
from tests.simulation.kernel.node import Node
from tests.simulation.script import Script

SETTINGS: Final = WorkerSettings(
    stage="sim",
    eventbridge_bus_name="bus",
    s3_bucket="artifacts",
    state_table_name="state-test",
    task_definitions_table="definitions",
    sqs_queue_url=TASKS,
    agent_backend="offline",
    max_concurrent_claude=2,
    stop_grace_seconds=30,
    output_folder=Path("unused"),
)
TIMING: Final = LeaseTiming.of(SETTINGS)
NO_OUTCOME: Final = "the child left no outcome"
"""On a full disk: no fault of the task's."""


@dataclass(slots=True)
class ChildRun:
    """A child of a worker, while it ran."""

    ref: TaskRef
    fence: int
    attempt: int
    node: Node
    began: float
    ended: float | None = None


class NoProtection:
    def protect(self, *, minutes: int) -> None: ...

    def drop(self) -> None: ...


@dataclass
class SimulatedWorker:
    node: Node
    cloud: Cloud
    script: Script
    children: list[ChildRun]
    on_bug: Callable[[BaseException], None]
    stop: Stop = field(init=False)

    def start(self) -> "asyncio.Task[None]":
        self.stop = Stop(grace_seconds=SETTINGS.stop_grace_seconds, sleep=self.node.nap)
        running = self.node.world.start(self._loop().run())
        running.add_done_callback(self._look_at)
        return running

    def _loop(self) -> Loop:
        ports = self._ports()
        attempts = SimulatedAttempts(
            ports,
            self.node,
            self.script,
            self.children,
            self.stop,
            orphaned=self.cloud.weather.orphaned,
        )
        machine = Machine(
            probe=lambda: self.node.sick,
            clock=ports.clock,
            sleep=ports.sleep,
            offload=ports.offload,
        )
        protection = Protection(runtime_of(ports), ports.protection, TIMING, stop=self.stop)
        return receive_loop(
            ports,
            SETTINGS,
            TIMING,
            attempts=attempts,
            intake=intake_of(ports, protection, machine, self.stop),
            stop=self.stop,
            bugs=Bugs(ports.clock, self.stop, most_in_a_row=1),
        ).beside(machine.watch)

    def _ports(self) -> WorkerPorts:
        seen = self.cloud.seen_by(self.node, origin="worker", worker_id=self.node.name)
        state, blobs, queue = seen.table(self.cloud.state), seen.blobs(), seen.queue()
        payloads = DynamoDbPayloads(state, blobs)
        definitions = DynamoDbDefinitionStore(seen.table(self.cloud.definitions))
        return WorkerPorts(
            clock=self.node,
            sleep=self.node.nap,
            offload=self.node.offload,
            randomness=self.node,
            worker_id=self.node.name,
            tenant_id=TENANTS[0],
            leases=DynamoDbTaskLeases(state),
            ready=DynamoDbReadyIndex(state),
            clocks=DynamoDbTenantClocks(state),
            limits=DynamoDbStartLimits(state),
            payloads=payloads,
            definitions=definitions,
            queue=queue,
            inbox=queue,
            pause_switch=MemoryPauseSwitch(),
            presence=MemoryPresence(),
            adopter=Adopter(
                definitions=definitions,
                adoption=DynamoDbTaskAdoption(state, payloads),
                clock=self.node,
            ),
            parking=MessageParking(blobs=blobs, clock=self.node, queue=TASKS),
            blobs=blobs,
            emitter=seen.emitter(),
            protection=NoProtection(),
            deployments=MemoryDeployments(),
            web=MemoryWebProbe(),
        )

    def _look_at(self, running: "asyncio.Task[None]") -> None:
        if running.cancelled():
            return
        error = running.exception()
        if error is not None:
            self.on_bug(error)
        elif self.node.alive:
            self.node.kill("after it stopped well")


class SimulatedAttempts:
    """Reads what a real attempt reads, tells what it tells, stores what it stores."""

    def __init__(
        self,
        ports: WorkerPorts,
        node: Node,
        script: Script,
        children: list[ChildRun],
        stop: Stop,
        *,
        orphaned: float = 0.0,
    ) -> None:
        """`orphaned` is how many seconds a child outlives a killed worker, at most."""
        self._orphaned = orphaned
        self._ports = ports
        self._node = node
        self._script = script
        self._children = children
        self._stop = stop
        self._assignments = Assignments(
            ports.payloads,
            ports.definitions,
            SETTINGS,
            credential=None,
            inputs=InputFinder(leases=ports.leases, payloads=ports.payloads, blobs=ports.blobs),
        )
        self.redaction = Redaction(None)
        self._uploader = Uploader(runtime_of(ports), ports.blobs, Redaction(None))

    async def run(self, claimed: Claimed, keepalive: Keepalive) -> Verdict:
        running = asyncio.ensure_future(self._run(claimed, keepalive))
        await first_of({"verdict": running, "lease lost": keepalive.keep()})
        return running.result()

    async def _run(self, claimed: Claimed, keepalive: Keepalive) -> Verdict:
        gathering = asyncio.ensure_future(
            self._ports.offload(self._assignments.gather, claimed.task)
        )
        try:
            ended = await first_of(
                {"gathered": gathering, "cancelled": keepalive.cancel_requested.wait()}
            )
        except Unavailable as outage:
            return HandedBack(reason=str(outage), delay_ms=10_000)
        if ended == "cancelled":
            return cancelled(duration_ms=0)
        verdict = await self._child(claimed, keepalive)
        if isinstance(verdict, HandedBack) or not verdict.completed:
            return verdict
        prefix = artifacts_prefix(claimed.lease)
        try:
            await self._uploader.upload_result(verdict.output, prefix=prefix)
        except Unavailable as outage:
            return failed(category=FailureCategory.NETWORK, error=str(outage))
        return verdict.changed(artifacts=prefix)

    async def _child(self, claimed: Claimed, keepalive: Keepalive) -> Verdict:
        if self._node.sick:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        seconds, verdict = self._script.draw(claimed)
        task = claimed.task
        child = ChildRun(task.ref, task.fence, task.attempt, self._node, self._node.monotonic())
        self._children.append(child)
        self._node.on_death.append(lambda: self._orphan(child))
        activity = LastActivity(self._node)
        activity.note("sdk_query", "task-step")
        keepalive.watch(Watched(1, activity, memory=lambda _: 0))
        try:
            ended = await first_of(
                {
                    "itself": self._node.nap(seconds),
                    "told": self._tell_started(claimed, seconds),
                    "cancelled": keepalive.cancel_requested.wait(),
                    "handed back": self._stop.grace_over.wait(),
                }
            )
        finally:
            _end(child)
        match ended:
            case "cancelled":
                return cancelled(duration_ms=round(seconds * 1000))
            case "handed back":
                return HandedBack(reason=ended)
            case _ if self._node.sick:  # its child could not write what it found
                return failed(category=FailureCategory.CHILD_DIED, error=NO_OUTCOME)
            case _:
                return verdict

    def _orphan(self, child: ChildRun) -> None:
        """Let the child of a killed worker run on until the process beside the worker ends it."""
        if child.ended is None:
            world = self._node.world
            seconds = world.orphaned_seconds(self._orphaned)
            child.ended = world.now + seconds
            world.report(self._node.name, f"ORPHANED {child.ref.task_id} for {seconds:.1f} s")

    async def _tell_started(self, claimed: Claimed, seconds: float) -> None:
        fact = task_events.started(claimed.task, worker_id=self._node.name, process_id=1)
        with contextlib.suppress(Unavailable):
            await self._ports.offload(self._ports.emitter.emit, fact)
        await self._node.nap(seconds)


def _end(child: ChildRun) -> None:
    if child.ended is None:
        child.ended = child.node.world.now
