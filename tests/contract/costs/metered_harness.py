"""The real adapters over a metered client, and a job with names as long as real ones.

`child` waits for five parents with ids of forty characters; it is the task that is followed.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from switchyard.adapters.dynamodb.access.api_keys import DynamoDbApiKeys
from switchyard.adapters.dynamodb.access.limits import DynamoDbOpenTasks, DynamoDbRequestRates
from switchyard.adapters.dynamodb.access.tenants import DynamoDbTenantStore
from switchyard.adapters.dynamodb.cancellation import DynamoDbCancelling
from switchyard.adapters.dynamodb.counters import DynamoDbCounters, DynamoDbPublishedMinutes
from switchyard.adapters.dynamodb.definition_store import DynamoDbDefinitionStore
from switchyard.adapters.dynamodb.event_log import DynamoDbEventLog
from switchyard.adapters.dynamodb.items import task_key
from switchyard.adapters.dynamodb.job_intake import DynamoDbJobIntake
from switchyard.adapters.dynamodb.job_store import DynamoDbJobStore
from switchyard.adapters.dynamodb.overdue import DynamoDbOverdue
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.presence import (
    DynamoDbPauseSwitch,
    DynamoDbPresence,
    DynamoDbSubscriptionStore,
)
from switchyard.adapters.dynamodb.redrives import DynamoDbRedriving
from switchyard.adapters.dynamodb.scheduling.ready_index import DynamoDbReadyIndex
from switchyard.adapters.dynamodb.scheduling.start_limits import DynamoDbStartLimits
from switchyard.adapters.dynamodb.scheduling.tenant_clocks import DynamoDbTenantClocks
from switchyard.adapters.dynamodb.scheduling.work_queues import DynamoDbWorkQueueStore
from switchyard.adapters.dynamodb.signal_subscriptions import DynamoDbSignalSubscriptions
from switchyard.adapters.dynamodb.submission_keys import (
    DynamoDbDeduplication,
    DynamoDbSubmissionKeys,
)
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.task_additions import DynamoDbTaskAdditions, DynamoDbTaskAdoption
from switchyard.adapters.dynamodb.task_graph import DynamoDbTaskGraph
from switchyard.adapters.dynamodb.task_leases import DynamoDbTaskLeases
from switchyard.adapters.dynamodb.trigger_store import DynamoDbTriggerStore
from switchyard.adapters.dynamodb.values import serialized
from switchyard.contracts.events import Context, Event, Properties
from switchyard.domain.ids import JobRef
from switchyard.domain.jobs.graph import TaskSpec
from switchyard.domain.jobs.job import Job
from switchyard.domain.jobs.plan import JobPlan, Pinned, plan_job
from switchyard.domain.states import JobState, Rule, TaskState
from switchyard.domain.tasks.readiness import Readiness
from switchyard.domain.tasks.task import (
    MAX_ACTIVITY_BYTES,
    Lease,
    LifeSigns,
    Outcome,
    Task,
    edge_token,
)
from switchyard.ports import Claimed, ClaimRefused
from switchyard.testing.transport import MemoryBlobStore
from tests.contract.clouds import Cloud
from tests.fakes.dynamodb.write_units import MeteredDynamoDb, size_of
from tests.fakes.tables import a_table, events_table, state_table

NOW_MS: Final = 1_794_801_234_567  # no round figure: zeros at the end are not stored
LEASE_MS: Final = 45_000
TENANT: Final = "north-sea-brand-studio"
JOB: Final = JobRef(TENANT, "job-7d9f2b64-0c1e-4e0a-9d53-1f2a6b8c4e75")
WORKER: Final = "worker-4f1b9c2d7a60"
PARENTS: Final = tuple(f"parent-{number}-of-".ljust(40, "x") for number in range(5))
TOKENS: Final = tuple(edge_token(parent, 1) for parent in PARENTS)
CHILD: Final = JOB.task("child-of-five-".ljust(40, "x"))
DEFINITION: Final = "analyse-competitors-and-their-prices"
LONG_SIGNS: Final = LifeSigns(
    beat_at_ms=NOW_MS + 20_345,
    activity="x" * MAX_ACTIVITY_BYTES,
    activity_at_ms=NOW_MS + 12_345,
    repeats=12_345,
)


class MeteredHarness:
    def __init__(self, cloud: Cloud) -> None:
        self._meter = MeteredDynamoDb(cloud.client("dynamodb"))
        self._state = DynamoDbTable(self._meter, state_table(self._meter))
        events = DynamoDbTable(self._meter, events_table(self._meter))
        definitions = DynamoDbTable(self._meter, a_table(self._meter, "definitions"))
        self.log = DynamoDbEventLog(events)
        self.definitions = DynamoDbDefinitionStore(definitions)
        self.keys = DynamoDbApiKeys(DynamoDbTable(self._meter, a_table(self._meter, "api-keys")))
        self.tenants = DynamoDbTenantStore(self._state)
        self.open_tasks = DynamoDbOpenTasks(self._state)
        self.rates = DynamoDbRequestRates(self._state)
        self.pause_switch = DynamoDbPauseSwitch(self._state)
        self.pool_subscriptions = DynamoDbSubscriptionStore(self._state)
        self.deduplication = DynamoDbDeduplication(self._state)
        self.presence = DynamoDbPresence(self._state)
        self.counters = DynamoDbCounters(self._state)
        self.published = DynamoDbPublishedMinutes(self._state)
        self.submission_keys = DynamoDbSubmissionKeys(self._state)
        self.triggers = DynamoDbTriggerStore(self._state)
        self.queues = DynamoDbWorkQueueStore(self._state)
        self.subscriptions = DynamoDbSignalSubscriptions(self._state)
        payloads = DynamoDbPayloads(self._state, MemoryBlobStore())
        self.intake = DynamoDbJobIntake(self._state, payloads)
        self.adoption = DynamoDbTaskAdoption(self._state, payloads)
        self.additions = DynamoDbTaskAdditions(self._state, payloads)
        self.jobs = DynamoDbJobStore(self._state)
        self.graph = DynamoDbTaskGraph(self._state)
        self.leases = DynamoDbTaskLeases(self._state)
        self.overdue = DynamoDbOverdue(self._state)
        self.ready_index = DynamoDbReadyIndex(self._state)
        self.clocks = DynamoDbTenantClocks(self._state)
        self.limits = DynamoDbStartLimits(self._state)
        self.cancelling = DynamoDbCancelling(self._state)
        self.redriving = DynamoDbRedriving(self._state, payloads)
        self.plan = _plan()

    def limit(self, *names: str) -> None:
        """Let the tasks of the job have limits, before it is written."""
        tasks = tuple(replace(one, limits=names) for one in self.plan.tasks)
        self.plan = replace(self.plan, tasks=tasks)

    def cost(self, act: Callable[[], object]) -> int:
        return self._meter.cost_of(act)

    def written(self) -> None:
        self.intake.write(self.plan)

    def opened(self) -> Job:
        self.written()
        self.intake.open(self.plan, now_ms=NOW_MS)
        job = self.jobs.find(JOB)
        assert job is not None
        return job

    def without_edges(self) -> Task:
        self.opened()
        return self.graph.remove_edges(CHILD, dict.fromkeys(TOKENS, False))

    def ready(self) -> Task:
        verdict = Readiness(TaskState.READY, "all settled")
        return self.graph.decide(self.without_edges(), verdict, now_ms=NOW_MS)

    def queued(self) -> None:
        self.graph.mark_queued(self.ready(), now_ms=NOW_MS + 12)

    def claim(self, *, owner: str = f"{WORKER}/1234") -> Claimed | ClaimRefused | None:
        return self.leases.claim(CHILD, owner=owner, now_ms=NOW_MS + 345, lease_ms=LEASE_MS)

    def claimed(self) -> Lease:
        self.queued()
        answer = self.claim()
        assert isinstance(answer, Claimed)
        return answer.lease

    def retried(self) -> Lease:
        """Held again, after an attempt whose error was kept."""
        self.leases.release(
            self.claimed(),
            not_before_ms=NOW_MS + 345,
            now_ms=NOW_MS + 345,
            give_attempt_back=False,
            error="e" * 200,
        )
        answer = self.claim()
        assert isinstance(answer, Claimed)
        return answer.lease

    def failed(self) -> Task:
        """Settled and followed: nothing of it is due."""
        error = Outcome(state=TaskState.FAILED, error="e" * 200, error_category="validation")
        self.leases.settle(self.claimed(), error, output=None, now_ms=NOW_MS + 999)
        self.graph.clear_due(self.child())
        return self.child()

    def settled_job(self) -> Job:
        return self.jobs.settle(self.opened(), JobState.FAILED, now_ms=NOW_MS + 999)

    def child(self) -> Task:
        task = self.graph.find(CHILD)
        assert task is not None
        return task

    def size_of_child(self) -> int:
        item = self._state.get(task_key(CHILD))
        assert item is not None
        return size_of(serialized(item))

    def report(self, properties: Properties) -> int:
        return self.cost(lambda: self.log.append(_record(properties)))


def _plan() -> JobPlan:
    parents = [TaskSpec(task_id=name, name=DEFINITION) for name in PARENTS]
    child = TaskSpec(
        task_id=CHILD.task_id,
        name=DEFINITION,
        depends_on=PARENTS,
        input={"store": "https://example.com/a-store"},
        rule=Rule.ALL_SETTLED,
    )
    return plan_job(
        JOB,
        name="Brand analysis of a store, weekly",
        tags={"team": "brand", "store": "north-sea"},
        specs=[*parents, child],
        pinned={DEFINITION: Pinned(12)},
        now_ms=NOW_MS,
    )


def _record(properties: Properties) -> dict[str, Any]:
    """Return the record as it is stored: the sender's part, and what persistence adds."""
    event = Event.of(
        properties,
        tenant=TENANT,
        app="task-workflow",
        timestamp_ms=NOW_MS,
        context=Context(environment="prod", origin="worker", worker_id=WORKER),
    )
    return event.detail() | {"receivedAt": NOW_MS + 87, "ttl": NOW_MS // 1000}
