"""Puts the worker together."""

from collections.abc import Mapping
from functools import partial

from switchyard.bootstrap import WorkerPorts
from switchyard.settings import WorkerSettings
from worker.attempt import Attempts
from worker.bugs import Bugs
from worker.children import Children
from worker.claude_access import ClaudeProxy
from worker.deletions import Deletions
from worker.delivery import Deliveries
from worker.lease_timing import LeaseTiming
from worker.loop import Loop, Polling
from worker.machine import Machine
from worker.probe import probe
from worker.protection import Protection
from worker.quota import Quota
from worker.removal import Removals
from worker.screening import Screening
from worker.slot_users import SlotUsers, slot_users
from worker.stopping import Stop
from worker.supervision import Supervisor
from worker.task.limits import TOO_MANY_PROCESSES


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
