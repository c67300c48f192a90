"""Puts the worker together: gives each part the ports that it uses."""

from collections.abc import Mapping
from functools import partial

from switchyard.bootstrap import WorkerPorts
from switchyard.domain.jobs.files import MAX_INPUT_BYTES, MEGABYTE
from switchyard.domain.tasks.task import Lease
from switchyard.ports import Received
from switchyard.settings import WorkerSettings
from switchyard_worker.boundary import TOO_MANY_PROCESSES
from switchyard_worker.parent.attempts.assignments import Assignments
from switchyard_worker.parent.attempts.attempt import ChildAttempts
from switchyard_worker.parent.attempts.functions import ServedFunctions
from switchyard_worker.parent.attempts.guard_client import GuardClient
from switchyard_worker.parent.attempts.inputs import InputFinder
from switchyard_worker.parent.claude.access import ClaudeProxy
from switchyard_worker.parent.coroutines import Runtime
from switchyard_worker.parent.files.attempt_folders import AttemptFolders
from switchyard_worker.parent.files.removal import Removals
from switchyard_worker.parent.files.users import SlotUsers, slot_users
from switchyard_worker.parent.health.machine import Machine
from switchyard_worker.parent.health.pulse import probe
from switchyard_worker.parent.health.stop import Bugs, Stop
from switchyard_worker.parent.receive.cancel_checks import CHECK_SECONDS, CancelChecks
from switchyard_worker.parent.receive.deletions import Deletions
from switchyard_worker.parent.receive.deliveries import (
    Attempts,
    Claims,
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
from switchyard_worker.parent.receive.settlement import RefusedClaims, Settlement
from switchyard_worker.parent.supervision.children import Children
from switchyard_worker.parent.supervision.quota import Quota
from switchyard_worker.parent.supervision.supervisor import Supervisor


def runtime_of(ports: WorkerPorts) -> Runtime:
    return Runtime(
        clock=ports.clock,
        sleep=ports.sleep,
        offload=ports.offload,
        randomness=ports.randomness,
    )


def assemble(
    ports: WorkerPorts,
    settings: WorkerSettings,
    timing: LeaseTiming,
    *,
    stop: Stop,
    children: Children,
    host_environment: Mapping[str, str],
    claude: ClaudeProxy | None,
    functions: ServedFunctions,
) -> Loop:
    """Return a worker that runs each attempt in a child process."""
    machine = _machine(ports, settings)
    protection = Protection(runtime_of(ports), ports.protection, timing, stop=stop)
    attempts = ChildAttempts(
        runtime=runtime_of(ports),
        settings=settings,
        assignments=_assignments(ports, settings, claude, functions),
        guard=GuardClient(clock=ports.clock, sleep=ports.sleep, host_environment=host_environment),
        supervisor=_supervisor(ports, settings, children, host_environment),
        folders=_folders(ports, settings, children, host_environment),
        claude=claude,
        blobs=ports.blobs,
        emitter=ports.emitter,
        worker_id=ports.worker_id,
        protection=protection,
        stop=stop,
    )
    loop = receive_loop(
        ports,
        settings,
        timing,
        attempts=attempts,
        intake=intake_of(ports, protection, machine, stop, settings.pause_check_seconds),
        stop=stop,
        bugs=Bugs(ports.clock, stop, redaction=attempts.redaction),
    )
    return loop.beside(
        attempts.guard.keep, children.keep_swept, attempts.folders.removals.keep, machine.watch
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
    deliveries = _deliveries(ports, timing, attempts, intake, screening)
    loop = Loop(
        runtime,
        ports.inbox,
        handle=deliveries.handle,
        stop=stop,
        intake=intake,
        screening=screening,
        polling=Polling(
            slots=settings.max_concurrent_claude,
            max_messages=settings.max_messages,
            wait_seconds=settings.wait_time_seconds,
            visibility_seconds=timing.visibility_seconds,
        ),
        bugs=bugs,
    )
    # Renewals that are as frequent see a cancel as soon.
    return loop.beside(deliveries.checks.keep) if timing.beat_seconds > CHECK_SECONDS else loop


def _deliveries(
    ports: WorkerPorts,
    timing: LeaseTiming,
    attempts: Attempts,
    intake: Intake,
    screening: Screening,
) -> Deliveries:
    runtime = runtime_of(ports)
    settlement = Settlement(runtime, ports.leases, ports.queue, ports.emitter)
    return Deliveries(
        clock=ports.clock,
        claims=Claims(
            runtime=runtime,
            leases=ports.leases,
            adopter=ports.adopter,
            worker_id=ports.worker_id,
            tenant_id=ports.tenant_id,
            lease_ms=timing.lease_ms,
        ),
        keep_lease=_keep_lease(ports, timing),
        checks=CancelChecks(runtime, ports.leases),
        unanswered=UnansweredMessages(runtime=runtime, inbox=ports.inbox, parking=ports.parking),
        attempts=attempts,
        settlement=settlement,
        refusals=RefusedClaims(runtime, settlement, ports.payloads),
        protection=intake.protection,
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
            timing,
            leases=ports.leases,
            inbox=ports.inbox,
            heartbeats=Heartbeats(runtime, ports.emitter, worker_id=ports.worker_id),
            lease=lease,
            message=message,
            taken_at=taken_at,
        )

    return keep_lease


def _machine(ports: WorkerPorts, settings: WorkerSettings) -> Machine:
    return Machine(
        probe=partial(probe, settings.output_folder),
        clock=ports.clock,
        sleep=ports.sleep,
        offload=ports.offload,
    )


def _assignments(
    ports: WorkerPorts,
    settings: WorkerSettings,
    claude: ClaudeProxy | None,
    functions: ServedFunctions,
) -> Assignments:
    return Assignments(
        ports.payloads,
        ports.definitions,
        settings,
        credential=claude.credential if claude else None,
        inputs=InputFinder(
            leases=ports.leases,
            payloads=ports.payloads,
            blobs=ports.blobs,
            max_bytes=min(MAX_INPUT_BYTES, settings.child_disk_mb * MEGABYTE // 2),
        ),
        functions=functions,
    )


def _supervisor(
    ports: WorkerPorts,
    settings: WorkerSettings,
    children: Children,
    host_environment: Mapping[str, str],
) -> Supervisor:
    return Supervisor(
        children=children,
        clock=ports.clock,
        sleep=ports.sleep,
        offload=ports.offload,
        host_environment=host_environment,
        quota=Quota(
            memory_mb=settings.child_task_memory_mb,
            megabytes=settings.child_disk_mb,
            files=settings.child_max_files,
            processes=TOO_MANY_PROCESSES,
            clock=ports.clock,
            sleep=ports.sleep,
            offload=ports.offload,
        ),
    )


def _folders(
    ports: WorkerPorts,
    settings: WorkerSettings,
    children: Children,
    host_environment: Mapping[str, str],
) -> AttemptFolders:
    users = SlotUsers(slot_users(host_environment))
    return AttemptFolders(
        output_folder=settings.output_folder,
        users=users,
        removals=Removals(
            users=users,
            is_ended=children.is_ended,
            clock=ports.clock,
            sleep=ports.sleep,
            offload=ports.offload,
        ),
        offload=ports.offload,
        delete_files=settings.delete_files_after_upload,
    )
