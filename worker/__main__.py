"""`python -m worker`: take tasks from the queue and run them until told to stop."""

import asyncio
import os
import sys
from collections.abc import Callable, Coroutine
from typing import Any, NoReturn

from switchyard.bootstrap import WorkerPorts, worker_ports
from switchyard.observability import get_logger
from switchyard.settings import WorkerSettings
from worker.assembly import assemble
from worker.children import Children
from worker.configuration import Configuration, Misconfigured, read_configuration
from worker.health import keep_pulse
from worker.presence import Attendance
from worker.stopping import Stop
from worker.subreaper import become_subreaper

logger = get_logger("worker")

MISCONFIGURED = 2
FAILED = 1


def main(connect: Callable[[WorkerSettings], WorkerPorts] = worker_ports) -> int:
    try:
        configuration = read_configuration()
    except Misconfigured as problem:
        print(problem, file=sys.stderr)  # noqa: T201 - for whoever starts it
        return MISCONFIGURED
    become_subreaper()
    try:
        asyncio.run(_run(configuration, connect(configuration.settings)))
    except Exception:
        logger.critical("worker ended by a bug", exc_info=True)
        return FAILED
    return 0


async def _run(configuration: Configuration, ports: WorkerPorts) -> None:
    settings, timing = configuration.settings, configuration.timing
    stop = Stop(grace_seconds=settings.stop_grace_seconds, sleep=ports.sleep)
    stop.listen()
    children = Children(sleep=ports.sleep, kill_seconds=timing.kill_seconds)
    loop = assemble(
        ports, settings, timing, stop=stop, children=children, host_environment=os.environ
    )
    fields = {"worker_id": ports.worker_id, "slots": settings.max_concurrent_claude}
    logger.info("worker started", extra=fields)
    pulse = asyncio.create_task(keep_pulse(settings.output_folder, sleep=ports.sleep))
    attendance = Attendance(ports, slots=settings.max_concurrent_claude, busy=lambda: loop.busy)
    attendance.begin()
    await _until_done(loop.run(), stop, children)
    pulse.cancel()
    await attendance.end()
    logger.info("worker stopped", extra=fields)


async def _until_done(running: Coroutine[Any, Any, None], stop: Stop, children: Children) -> None:
    work = asyncio.create_task(running)
    insisted = asyncio.create_task(stop.insisted.wait())
    await asyncio.wait({work, insisted}, return_when=asyncio.FIRST_COMPLETED)
    if not work.done():
        children.kill_all()
        logger.warning("worker leaves at once")
        leave(FAILED)
    insisted.cancel()
    await work


def leave(code: int) -> NoReturn:
    """Without waiting for threads: one may hold a long poll, for up to 20 s."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    leave(main())
