"""Puts the worker together."""

from collections.abc import Mapping

from switchyard.bootstrap import WorkerPorts
from switchyard.settings import WorkerSettings
from worker.attempt import Attempts
from worker.child_environment import Credential
from worker.children import Children
from worker.deletions import Deletions
from worker.delivery import Deliveries
from worker.lease_timing import LeaseTiming
from worker.loop import Loop, Polling
from worker.protection import Protection
from worker.slots import Slots
from worker.stopping import Stop
from worker.supervision import Supervisor


def assemble(
    ports: WorkerPorts,
    settings: WorkerSettings,
    timing: LeaseTiming,
    *,
    stop: Stop,
    children: Children,
    host_environment: Mapping[str, str],
) -> Loop:
    supervisor = Supervisor(
        children=children,
        clock=ports.clock,
        sleep=ports.sleep,
        host_environment=host_environment,
    )
    attempts = Attempts(
        ports,
        settings,
        supervisor=supervisor,
        stop=stop,
        credential=Credential.found_in(host_environment),
    )
    protection = Protection(ports, timing, stop=stop)
    deletions = Deletions(ports, timing)
    return Loop(
        ports,
        handle=Deliveries(ports, timing, attempts, protection, deletions).handle,
        stop=stop,
        protection=protection,
        deletions=deletions,
        slots=Slots(settings.max_concurrent_claude),
        polling=Polling(
            max_messages=settings.max_messages,
            wait_seconds=settings.wait_time_seconds,
            visibility_seconds=timing.visibility_seconds,
        ),
    )
