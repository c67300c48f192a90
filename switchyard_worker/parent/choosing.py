"""Puts together what a worker chooses its tasks by."""

from datetime import timedelta
from functools import partial

from switchyard.bootstrap import WorkerPorts
from switchyard.domain.scheduling.aging import Aging
from switchyard.domain.scheduling.choice import Choosing
from switchyard.domain.scheduling.policies import Turns
from switchyard.domain.scheduling.pools import Policy, Subscription
from switchyard.domain.scheduling.ready import DEFAULT_QUEUE
from switchyard.domain.tasks.task import milliseconds
from switchyard.settings import WorkerSettings
from switchyard.usecases.scheduling.marks import Marks
from switchyard_worker.parent.coroutines import Runtime
from switchyard_worker.parent.receive.candidates import CandidateFinder
from switchyard_worker.parent.receive.claims import Claims
from switchyard_worker.parent.receive.intake import ConsumptionPause
from switchyard_worker.parent.receive.refused_claims import RefusedClaims
from switchyard_worker.parent.receive.settlement import Settlement
from switchyard_worker.parent.receive.tenant_clocks import ClocksOfGroups
from switchyard_worker.parent.receive.tokens import Tokens


def tokens_of(
    ports: WorkerPorts,
    settings: WorkerSettings,
    clocks: ClocksOfGroups,
    pauses: ConsumptionPause,
    *,
    lease_ms: int,
) -> Tokens:
    """Return what turns wake-ups into claims."""
    runtime = Runtime(
        clock=ports.clock, sleep=ports.sleep, offload=ports.offload, randomness=ports.randomness
    )
    marks = Marks(ports.clocks, ports.clock)
    own_queue = ports.pool.own_queue if ports.pool else ports.queue
    settlement = Settlement(runtime, ports.leases, ports.queue, ports.emitter, ports.limits, marks)
    return Tokens(
        runtime=runtime,
        claims=Claims(
            runtime=runtime,
            leases=ports.leases,
            adopter=ports.adopter,
            worker_id=ports.worker_id,
            tenant_id=ports.tenant_id,
            lease_ms=lease_ms,
        ),
        finder=_finder(ports, settings, runtime, clocks),
        clocks=clocks,
        refusals=RefusedClaims(
            runtime=runtime,
            settlement=settlement,
            payloads=ports.payloads,
            index=ports.ready,
            limits=ports.limits,
            own_queue=own_queue,
        ),
        index=ports.ready,
        marks=marks,
        queue=own_queue,
        pauses=pauses,
    )


def _finder(
    ports: WorkerPorts, settings: WorkerSettings, runtime: Runtime, clocks: ClocksOfGroups
) -> CandidateFinder:
    step = timedelta(minutes=settings.aging_minutes)
    pool, policy = ports.pool, Policy.ROUND_ROBIN
    if pool is not None:
        policy = pool.directory.named(settings.pool).pool.policy
    return CandidateFinder(
        runtime,
        ports.ready,
        clocks,
        turns=Turns(policy, [Subscription(DEFAULT_QUEUE)]),
        choosing=Choosing(
            policy=policy,
            aging=Aging(step_ms=milliseconds(step)),
            slots=settings.pool_slots or settings.max_concurrent_claude,
        ),
        subscriptions=partial(pool.directory.subscriptions, settings.pool) if pool else None,
    )
