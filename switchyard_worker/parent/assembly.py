"""Puts the worker together: gives each part the ports that it uses."""

from collections.abc import Mapping
from functools import partial

from switchyard.bootstrap import WorkerPorts
from switchyard.domain.jobs.files import MAX_INPUT_BYTES, MEGABYTE
from switchyard.settings import WorkerSettings
from switchyard_worker.boundary import TOO_MANY_PROCESSES
from switchyard_worker.parent.attempts.assignments import Assignments
from switchyard_worker.parent.attempts.attempt import ChildAttempts
from switchyard_worker.parent.attempts.child_outcome import Judge
from switchyard_worker.parent.attempts.commitment_checks import CommitmentChecks
from switchyard_worker.parent.attempts.functions import ServedFunctions
from switchyard_worker.parent.attempts.grader import Grader
from switchyard_worker.parent.attempts.guard_client import GuardClient
from switchyard_worker.parent.attempts.inputs import InputFinder
from switchyard_worker.parent.claude.access import ClaudeProxy
from switchyard_worker.parent.files.attempt_folders import AttemptFolders
from switchyard_worker.parent.files.removal import Removals
from switchyard_worker.parent.files.users import SlotUsers, slot_users
from switchyard_worker.parent.health.machine import Machine
from switchyard_worker.parent.health.pulse import probe
from switchyard_worker.parent.health.stop import Bugs, Stop
from switchyard_worker.parent.receive.lease import LeaseTiming
from switchyard_worker.parent.receive.loop import Loop
from switchyard_worker.parent.receive.rollout import Protection
from switchyard_worker.parent.receiving import intake_of, receive_loop, runtime_of
from switchyard_worker.parent.supervision.children import Children
from switchyard_worker.parent.supervision.quota import Quota
from switchyard_worker.parent.supervision.supervisor import Supervisor


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
    guard = GuardClient(clock=ports.clock, sleep=ports.sleep, host_environment=host_environment)
    supervisor = _supervisor(ports, settings, children, host_environment)
    folders = _folders(ports, settings, children, host_environment)
    attempts = ChildAttempts(
        runtime=runtime_of(ports),
        settings=settings,
        assignments=_assignments(ports, settings, claude, functions),
        guard=guard,
        checks=_checks(ports, settings, guard, supervisor, folders, claude),
        supervisor=supervisor,
        folders=folders,
        claude=claude,
        blobs=ports.blobs,
        emitter=ports.emitter,
        worker_id=ports.worker_id,
        protection=protection,
        stop=stop,
    )
    bugs = Bugs(ports.clock, stop, redaction=attempts.redaction)
    intake = intake_of(ports, protection, machine, stop, settings.pause_check_seconds)
    loop = receive_loop(
        ports, settings, timing, attempts=attempts, intake=intake, stop=stop, bugs=bugs
    )
    return loop.beside(
        attempts.guard.keep, children.keep_swept, attempts.folders.removals.keep, machine.watch
    )


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


def _checks(
    ports: WorkerPorts,
    settings: WorkerSettings,
    guard: GuardClient,
    supervisor: Supervisor,
    folders: AttemptFolders,
    claude: ClaudeProxy | None,
) -> CommitmentChecks:
    runtime = runtime_of(ports)
    grader = Grader(
        runtime=runtime,
        settings=settings,
        supervisor=supervisor,
        folders=folders,
        judge=Judge(guard=guard, offload=ports.offload),
        claude=claude,
    )
    return CommitmentChecks(
        runtime=runtime, guard=guard, supervisor=supervisor, web=ports.web, grader=grader
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
