"""A harness in memory with tasks under way, and the health check that looks at them."""

from dataclasses import dataclass, field
from typing import Any

from switchyard.contracts.events import TaskHealthCheck
from switchyard.domain.alerts.alerts import PublishResult, PublishStatus
from switchyard.domain.alerts.incidents import Incident
from switchyard.domain.health.health import CheckedTask, HealthLimits
from switchyard.domain.ids import START, JobRef, TaskRef
from switchyard.domain.jobs.plan import Pinned, plan_job
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.readiness import Readiness
from switchyard.domain.tasks.task import Lease, LifeSigns
from switchyard.ports import Claimed
from switchyard.testing import ManualClock, MemoryHarness
from switchyard.usecases.health.check_tasks import TaskChecker
from switchyard.usecases.health.watch_health import HealthWatch
from tests.builders import NOW_MS, TENANT, a_definition, an_emitter, specs

LEASE_MS = 45_000


@dataclass
class Listener:
    """Records the incidents that are published, and may be out of reach."""

    heard: list[Incident] = field(default_factory=list)
    outage: Exception | None = None

    def publish(self, incident: Incident) -> PublishResult:
        if self.outage:
            raise self.outage
        self.heard.append(incident)
        return PublishResult(PublishStatus.POSTED)


class CheckedHarness:
    def __init__(self) -> None:
        self.clock = ManualClock(NOW_MS)
        self.memory = MemoryHarness(self.clock)
        self.listener = Listener()
        self.limits = HealthLimits()
        self._jobs = 0

    @property
    def checker(self) -> TaskChecker:
        return TaskChecker(
            unsettled=self.memory.unsettled,
            definitions=self.memory.definitions,
            presence=self.memory.presence,
            clock=self.clock,
            limits=self.limits,
        )

    def watch(self, *, tenant: str | None = None) -> HealthWatch:
        return HealthWatch(
            checker=self.checker,
            presence=self.memory.presence,
            alerts=self.listener,
            emitter=an_emitter(self.memory.bus, origin="health-check"),
            tenant=tenant,
        )

    def start(self, *, tenant: str = TENANT, version: int | None = None, **facts: Any) -> Lease:
        """A job of one task, which is claimed now; `facts` are its definition's."""
        put = self.memory.definitions.put
        pinned = version or put(tenant, "scrape", a_definition(**facts)).version
        ref = self._ready(tenant, pinned)
        claimed = self.memory.leases.claim(
            ref, owner="worker-1/7", now_ms=self.clock.now_ms(), lease_ms=LEASE_MS
        )
        assert isinstance(claimed, Claimed)
        return claimed.lease

    def beat(self, lease: Lease, **signs: Any) -> None:
        now_ms = self.clock.now_ms()
        known: dict[str, Any] = {
            "beat_at_ms": now_ms,
            "activity": "sdk_query:plan",
            "activity_at_ms": now_ms,
        }
        until_ms = now_ms + LEASE_MS
        self.memory.leases.renew(lease, lease_until_ms=until_ms, signs=LifeSigns(**known | signs))

    def emitted(self) -> list[TaskHealthCheck]:
        return [
            TaskHealthCheck.model_validate(event.properties) for event in self.memory.bus.events
        ]

    def check(self) -> dict[str, CheckedTask]:
        return {task.ref.job_id: task for task in self.checker.check().tasks}

    def _ready(self, tenant: str, version: int) -> TaskRef:
        self._jobs += 1
        job = JobRef(tenant, f"job-00000000-0000-4000-8000-{self._jobs:012d}")
        plan = plan_job(
            job,
            name="one task",
            tags={},
            specs=specs({"a": []}),
            pinned={"scrape": Pinned(version)},
            now_ms=self.clock.now_ms(),
        )
        self.memory.intake.write(plan)
        self.memory.intake.open(plan, now_ms=self.clock.now_ms())
        task = self.memory.graph.remove_edges(job.task("a"), {f"{START}@1": True})
        verdict = Readiness(TaskState.READY, "nothing before it")
        return self.memory.graph.decide(task, verdict, now_ms=self.clock.now_ms()).ref
