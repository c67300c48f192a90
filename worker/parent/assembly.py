"""Puts the worker together."""

from collections.abc import Mapping
from functools import partial

from switchyard.bootstrap import WorkerPorts
from switchyard.observability import get_logger
from switchyard.settings import WorkerSettings
from worker.boundary import TOO_MANY_PROCESSES
from worker.parent.attempts.attempt import Attempts
from worker.parent.claude.access import ClaudeProxy
from worker.parent.files.removal import Removals
from worker.parent.files.users import SlotUsers, slot_users
from worker.parent.health.machine import Machine
from worker.parent.health.pulse import probe
from worker.parent.health.stop import Bugs, Stop
from worker.parent.receive.deletions import Deletions, Screening
from worker.parent.receive.deliveries import Deliveries
from worker.parent.receive.lease import LeaseTiming
from worker.parent.receive.loop import Loop, Polling
from worker.parent.receive.rollout import Protection
from worker.parent.supervision.children import Children
from worker.parent.supervision.quota import Quota
from worker.parent.supervision.supervisor import Supervisor

logger = get_logger("worker")


def assemble(
    ports: WorkerPorts,
    settings: WorkerSettings,
    timing: LeaseTiming,
    *,
    stop: Stop,
    children: Children,
    host_environment: Mapping[str, str],
    claude: ClaudeProxy | None,
) -> Loop:
    supervisor = Supervisor(
        children=children,
        clock=ports.clock,
        sleep=ports.sleep,
        offload=ports.offload,
        host_environment=host_environment,
        quota=Quota(
            megabytes=settings.child_disk_mb,
            files=settings.child_max_files,
            processes=TOO_MANY_PROCESSES,
            clock=ports.clock,
            sleep=ports.sleep,
            offload=ports.offload,
        ),
    )
    users = SlotUsers(slot_users(host_environment))
    removals = Removals(
        users=users,
        is_ended=children.is_ended,
        clock=ports.clock,
        sleep=ports.sleep,
        offload=ports.offload,
    )
    protection = Protection(ports, timing, stop=stop)
    attempts = Attempts(
        ports,
        settings,
        supervisor=supervisor,
        stop=stop,
        protection=protection,
        claude=claude,
        users=users,
        removals=removals,
    )
    deletions = Deletions(ports, timing)
    machine = Machine(
        probe=partial(probe, settings.output_folder),
        clock=ports.clock,
        sleep=ports.sleep,
        offload=ports.offload,
    )
    screening = Screening(ports, deletions)
    handle = Deliveries(ports, timing, attempts, protection, deletions, machine, screening).handle
    return Loop(
        ports,
        handle=handle,
        stop=stop,
        protection=protection,
        screening=screening,
        bugs=Bugs(ports.clock, stop, redaction=attempts.redaction),
        machine=machine,
        polling=Polling(
            slots=settings.max_concurrent_claude,
            max_messages=settings.max_messages,
            wait_seconds=settings.wait_time_seconds,
            visibility_seconds=timing.visibility_seconds,
        ),
    ).beside(attempts.keep_guard, children.keep_swept, removals.keep, machine.watch)


def log_isolation(host: Mapping[str, str]) -> None:
    """One line: operators see it in the log, developers on their terminals."""
    users = slot_users(host)
    if users:
        fields = {"first_user": min(users), "last_user": max(users)}
        logger.info("each task runs as a user of its own", extra=fields)
        return
    logger.warning(
        "tasks are not isolated: they run as the worker's own user, and can read and change its "
        "files, each other's folders and each other's processes; run only tasks that you trust"
    )
