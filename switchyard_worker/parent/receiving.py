"""Puts together the loop that receives wake-ups and turns them into attempts."""

from switchyard.bootstrap import WorkerPorts
from switchyard.domain.tasks.task import Lease
from switchyard.ports import Received
from switchyard.settings import WorkerSettings
from switchyard_worker.parent.choosing import tokens_of
from switchyard_worker.parent.coroutines import Runtime
from switchyard_worker.parent.health.machine import Machine
from switchyard_worker.parent.health.stop import Bugs, Stop
from switchyard_worker.parent.receive.cancel_checks import CHECK_SECONDS, CancelChecks
from switchyard_worker.parent.receive.deletions import Deletions
from switchyard_worker.parent.receive.deliveries import (
    Attempts,
    Deliveries,
    KeepLease,
    UnansweredMessages,
)
from switchyard_worker.parent.receive.intake import (
    SECONDS_BETWEEN_LOOKS,
    ConsumptionPause,
    Intake,
    Screening,
)
from switchyard_worker.parent.receive.lease import Heartbeats, Keepalive, LeaseTiming
from switchyard_worker.parent.receive.loop import Loop, Polling
from switchyard_worker.parent.receive.rollout import Protection, Replacement
from switchyard_worker.parent.receive.tenant_clocks import ClocksOfGroups
from switchyard_worker.parent.receive.tokens import Tokens


def runtime_of(ports: WorkerPorts) -> Runtime:
    return Runtime(
        clock=ports.clock,
        sleep=ports.sleep,
        offload=ports.offload,
        randomness=ports.randomness,
    )


def receive_loop(
    ports: WorkerPorts,
    settings: WorkerSettings,
    timing: LeaseTiming,
    *,
    attempts: Attempts,
    intake: Intake,
    stop: Stop,
    bugs: Bugs,
) -> Loop:
    """Return the loop that receives messages and has their tasks attempted."""
    runtime = runtime_of(ports)
    deletions = Deletions(runtime, ports.inbox, timing)
    screening = Screening(runtime, ports.leases, deletions, tenant_id=ports.tenant_id)
    clocks = ClocksOfGroups(runtime, ports.clocks, usd_per_slot_hour=settings.usd_per_slot_hour)
    deliveries = _deliveries(
        ports,
        timing,
        attempts=attempts,
        intake=intake,
        screening=screening,
        stop=stop,
        tokens=tokens_of(ports, settings, clocks, intake.pause_switch, lease_ms=timing.lease_ms),
    )
    loop = Loop(
        runtime,
        ports.inbox,
        handle=deliveries.handle,
        stop=stop,
        intake=intake,
        screening=screening,
        polling=_polling(settings, timing),
        bugs=bugs,
    ).beside(clocks.keep)
    # Renewals that are as frequent see a cancel as soon.
    return loop.beside(deliveries.checks.keep) if timing.beat_seconds > CHECK_SECONDS else loop


def _polling(settings: WorkerSettings, timing: LeaseTiming) -> Polling:
    return Polling(
        slots=settings.max_concurrent_claude,
        max_messages=settings.max_messages,
        wait_seconds=settings.wait_time_seconds,
        visibility_seconds=timing.visibility_seconds,
    )


def _deliveries(
    ports: WorkerPorts,
    timing: LeaseTiming,
    *,
    attempts: Attempts,
    intake: Intake,
    screening: Screening,
    stop: Stop,
    tokens: Tokens,
) -> Deliveries:
    runtime = runtime_of(ports)
    return Deliveries(
        clock=ports.clock,
        tokens=tokens,
        keep_lease=_keep_lease(ports, timing),
        checks=CancelChecks(runtime, ports.leases),
        unanswered=UnansweredMessages(
            runtime=runtime,
            inbox=ports.inbox,
            parking=ports.parking,
            visibility_seconds=timing.visibility_seconds,
        ),
        attempts=attempts,
        settlement=tokens.refusals.settlement,
        intake=intake,
        stop=stop,
        screening=screening,
        machine=intake.machine,
    )


def intake_of(
    ports: WorkerPorts,
    protection: Protection,
    machine: Machine,
    stop: Stop,
    pause_check_seconds: float = SECONDS_BETWEEN_LOOKS,
) -> Intake:
    runtime = runtime_of(ports)
    replacement = Replacement(runtime, ports.deployments, protection, stop=stop)
    machine.announce_to(replacement.changed)
    return Intake(
        clock=ports.clock,
        pause_switch=ConsumptionPause(runtime, ports.pause_switch, pause_check_seconds),
        replacement=replacement,
        protection=protection,
        machine=machine,
    )


def _keep_lease(ports: WorkerPorts, timing: LeaseTiming) -> KeepLease:
    runtime = runtime_of(ports)

    def keep_lease(lease: Lease, message: Received, taken_at: float) -> Keepalive:
        return Keepalive(
            runtime,
            timing.for_task(lease.task),
            leases=ports.leases,
            inbox=ports.inbox,
            heartbeats=Heartbeats(runtime, ports.emitter, worker_id=ports.worker_id),
            lease=lease,
            message=message,
            taken_at=taken_at,
        )

    return keep_lease
