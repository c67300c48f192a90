"""A worker in this process, with its ports in memory, real children and a real clock."""

import asyncio
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from switchyard.adapters.system import SystemClock, SystemIds, ThreadOffload, system_sleep
from switchyard.bootstrap import WorkerPorts
from switchyard.contracts.events import Event, TaskHeartbeat
from switchyard.contracts.messages import TaskMessage
from switchyard.domain.errors import Unavailable
from switchyard.domain.health.clock_offset import ClockOffset
from switchyard.domain.ids import TaskRef
from switchyard.domain.tasks.task import Payload, Task
from switchyard.ports import Received, TaskLeases
from switchyard.settings import WorkerSettings
from switchyard.testing import MemoryHarness
from switchyard.testing.transport import MemoryWebProbe
from switchyard.usecases.dead_letters.park_message import MessageParking
from switchyard.usecases.dispatching.adopt_task import Adopter
from switchyard_worker.boundary import become_subreaper
from switchyard_worker.parent.assembly import assemble
from switchyard_worker.parent.attempts.functions import ServedFunctions
from switchyard_worker.parent.claude.access import ClaudeProxy
from switchyard_worker.parent.health.stop import Stop
from switchyard_worker.parent.receive.lease import LeaseTiming
from switchyard_worker.parent.supervision.children import Children
from switchyard_worker.parent.supervision.process_enders import UserEnder
from tests.builders import JOB, TENANT, a_definition, a_task, an_emitter

POLL_SECONDS = 0.02


class TrustedClock(SystemClock):
    """The machine's clock, where no other machine is."""

    def wall_offset(self) -> ClockOffset:
        return ClockOffset(ahead_ms=0, error_ms=0)


class NoDelay:
    """The shortest of every range, so that nobody pauses between two tries."""

    def between(self, low: float, high: float) -> float:
        return low


class LongPoll:
    """The queue in memory answers at once; asking it without a pause would take a whole core."""

    def __init__(self, harness: MemoryHarness) -> None:
        self._queue = harness.queue

    def receive(
        self, *, at_most: int, wait_seconds: int, visibility_seconds: int
    ) -> Sequence[Received]:
        messages = self._queue.receive(
            at_most=at_most, wait_seconds=wait_seconds, visibility_seconds=visibility_seconds
        )
        if not messages:
            time.sleep(POLL_SECONDS)
        return messages

    def extend(self, message: Received, *, seconds: int) -> None:
        self._queue.extend(message, seconds=seconds)

    def delete(self, *messages: Received) -> None:
        self._queue.delete(*messages)


class RecordedProtection:
    """Remembers what it was asked for, and refuses it if told to."""

    def __init__(self) -> None:
        self.asked: list[int | None] = []
        """Minutes, and `None` for none."""
        self.outage: Unavailable | None = None

    def protect(self, *, minutes: int) -> None:
        self._record(minutes)

    def drop(self) -> None:
        self._record(None)

    def _record(self, minutes: int | None) -> None:
        self.asked.append(minutes)
        if self.outage:
            raise self.outage


class WorkerHarness:
    def __init__(self, folder: Path) -> None:
        self.memory = MemoryHarness(SystemClock())
        self.folder = folder
        self.inbox = LongPoll(self.memory)
        self.protection = RecordedProtection()
        self.web = MemoryWebProbe()
        self.claude: ClaudeProxy | None = None
        self.leases: TaskLeases = self.memory.leases
        self.host_environment: Mapping[str, str] = {"PATH": os.environ["PATH"]}
        self.settings = WorkerSettings(
            stage="test",
            eventbridge_bus_name="bus",
            state_table_name="state",
            task_definitions_table="definitions",
            sqs_queue_url="queue",
            s3_bucket="bucket",
            agent_backend="offline",
            visibility_extension_interval=300,
            visibility_extension_amount=2,
            stop_grace_seconds=5,
            output_folder=folder,
        )

    def configure(self, **settings: Any) -> None:
        self.settings = self.settings.model_copy(update=settings)

    def add_task(
        self,
        task_id: str = "a",
        *,
        given: Any = None,
        depends_on: tuple[str, ...] = (),
        definition: Mapping[str, Any] | None = None,
        **facts: Any,
    ) -> TaskRef:
        """A task that is queued, and its message."""
        registered = self.memory.definitions.put(
            TENANT, f"do-{task_id}", a_definition(**definition or {})
        )
        task = a_task(
            task_id, definition=registered.name, definition_version=registered.version, **facts
        )
        self.memory.state.tasks[task.ref] = task
        self.memory.state.payloads[task.ref] = Payload(input=given, depends_on=depends_on)
        self.memory.queue.send([TaskMessage.to(task.ref, run=task.run)])
        return task.ref

    def task(self, task_id: str = "a") -> Task:
        return self.memory.state.tasks[JOB.task(task_id)]

    def change(self, task_id: str, **facts: Any) -> None:
        with self.memory.state.lock:
            self.memory.state.tasks[JOB.task(task_id)] = replace(self.task(task_id), **facts)

    def settled(self) -> bool:
        return all(task.state.settled for task in self.memory.state.tasks.values())

    def quiet(self) -> bool:
        return self.settled() and self.memory.queue.waiting == 0

    @property
    def emitted(self) -> list[str]:
        """Return the events without heartbeats, whose times vary."""
        emitted = [event.event_type for event in self.memory.bus.events]
        return [event_type for event_type in emitted if event_type != TaskHeartbeat.event_type]

    @property
    def heartbeats(self) -> list[Event]:
        beat = TaskHeartbeat.event_type
        return [event for event in self.memory.bus.events if event.event_type == beat]

    def blob(self, name: str, task_id: str = "a") -> str:
        outcome = self.task(task_id).outcome
        prefix = outcome.artifacts if outcome else None
        return self.memory.blobs.blobs[f"{prefix}{name}"].decode()

    def ports(self) -> WorkerPorts:
        return WorkerPorts(
            clock=TrustedClock(),
            sleep=system_sleep,
            offload=ThreadOffload(threads=8),
            randomness=NoDelay(),
            worker_id="worker-1",
            tenant_id=TENANT,
            leases=self.leases,
            ready=self.memory.ready,
            clocks=self.memory.clocks,
            limits=self.memory.limits,
            payloads=self.memory.payloads,
            definitions=self.memory.definitions,
            queue=self.memory.queue,
            inbox=self.inbox,
            pause_switch=self.memory.pause_switch,
            presence=self.memory.presence,
            adopter=Adopter(
                definitions=self.memory.definitions,
                adoption=self.memory.adoption,
                clock=SystemClock(),
            ),
            parking=MessageParking(blobs=self.memory.blobs, clock=SystemClock(), queue="tasks"),
            blobs=self.memory.blobs,
            emitter=an_emitter(self.memory.bus),
            protection=self.protection,
            deployments=self.memory.deployments,
            web=self.web,
        )

    def work(self, until: Callable[[], bool], *, seconds: float = 15) -> None:
        """Run a worker until something holds, then stop it and let it finish."""
        asyncio.run(self._work(until, seconds))

    async def _work(self, until: Callable[[], bool], seconds: float) -> None:
        become_subreaper()
        ports, timing = self.ports(), LeaseTiming.of(self.settings)
        stop = Stop(grace_seconds=self.settings.stop_grace_seconds, sleep=ports.sleep)
        self.claude = ClaudeProxy.where_a_credential_is(
            self.host_environment, new_secret=SystemIds().new_secret
        )
        ender = UserEnder(self.host_environment)
        await ender.start()
        loop = assemble(
            ports,
            self.settings,
            timing,
            functions=ServedFunctions.at(self.settings.functions),
            stop=stop,
            children=Children(
                clock=ports.clock,
                sleep=ports.sleep,
                offload=ports.offload,
                kill_seconds=timing.kill_seconds,
                end_user=ender.end,
            ),
            host_environment=self.host_environment,
            claude=self.claude,
        )
        await loop.begin()
        running = asyncio.create_task(loop.run())
        try:
            async with asyncio.timeout(seconds):
                while not until() and not running.done():  # noqa: ASYNC110 - conditions vary
                    await asyncio.sleep(POLL_SECONDS)
        finally:
            stop.ask()
            await running
            if self.claude:
                await self.claude.close()
            await ender.close()
