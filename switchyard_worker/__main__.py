"""`python -m switchyard_worker`: receive tasks from the queue and run them until a signal asks to
stop."""

import asyncio
import contextlib
import os
import sys
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from typing import Any, NoReturn

from switchyard.bootstrap import WorkerPorts, worker_ports
from switchyard.clock import system_ids
from switchyard.observability import get_logger
from switchyard.settings import WorkerSettings
from switchyard_worker.boundary import become_subreaper
from switchyard_worker.guard.examine import limit_digits
from switchyard_worker.guard.redaction import Redaction
from switchyard_worker.parent.assembly import assemble
from switchyard_worker.parent.attempts.backends import default_backend
from switchyard_worker.parent.claude.access import ClaudeProxy
from switchyard_worker.parent.configuration import Configuration, Misconfigured, read_configuration
from switchyard_worker.parent.files.removal import Leftovers
from switchyard_worker.parent.files.users import hide_memory, log_isolation
from switchyard_worker.parent.health.empty import EmptyWatch
from switchyard_worker.parent.health.presence import Membership, PresenceReports
from switchyard_worker.parent.health.pulse import keep_pulse
from switchyard_worker.parent.health.stop import ClockWatch, Stop, WrongClock, described
from switchyard_worker.parent.receive.loop import Loop
from switchyard_worker.parent.receiving import runtime_of
from switchyard_worker.parent.supervision.child_environment import Credential
from switchyard_worker.parent.supervision.children import Children
from switchyard_worker.parent.supervision.process_enders import OrphanWatcher, UserEnder

logger = get_logger("worker")

WRONG_CLOCK = 3
MISCONFIGURED = 2
FAILED = 1


def main(connect: Callable[[WorkerSettings], WorkerPorts] = worker_ports) -> int:
    try:
        configuration = read_configuration()
    except Misconfigured as problem:
        print(problem, file=sys.stderr)  # noqa: T201 - for the operator who starts it
        return MISCONFIGURED
    hide_memory()
    become_subreaper()
    limit_digits()
    try:
        asyncio.run(_run(configuration, connect(configuration.settings)))
    except WrongClock as problem:
        logger.critical("worker does not run with this clock", extra={"reason": str(problem)})
        return WRONG_CLOCK
    except Exception as bug:  # noqa: BLE001 - the process ends here
        logger.critical("worker ended by a bug", extra=described(bug, _redaction()))
        return FAILED
    return 0


def _redaction() -> Redaction:
    credential = Credential.found_in(os.environ)
    return Redaction(credential.value if credential else None)


async def _run(configuration: Configuration, ports: WorkerPorts) -> None:
    settings = configuration.settings
    stop = Stop(grace_seconds=settings.stop_grace_seconds, sleep=ports.sleep)
    stop.listen()
    async with AsyncExitStack() as helpers:
        children = await _children(ports, configuration, helpers)
        claude = ClaudeProxy.where_a_credential_is(os.environ, new_secret=system_ids().new_secret)
        if claude:
            helpers.push_async_callback(claude.close)
        loop = assemble(
            ports,
            settings,
            configuration.timing,
            stop=stop,
            children=children,
            host_environment=os.environ,
            claude=claude,
            functions=configuration.functions,
        )
        await _work(loop, ports, configuration, stop=stop, children=children)


async def _children(
    ports: WorkerPorts, configuration: Configuration, helpers: AsyncExitStack
) -> Children:
    """Start the processes that look after children, before there is any child."""
    watcher, ender = OrphanWatcher(os.environ), UserEnder(os.environ)
    helpers.callback(watcher.close)
    await ender.start()
    helpers.push_async_callback(ender.close)
    return Children(
        clock=ports.clock,
        sleep=ports.sleep,
        offload=ports.offload,
        kill_seconds=configuration.timing.kill_seconds,
        end_user=ender.end,
        watcher=watcher,
    )


async def _work(
    loop: Loop, ports: WorkerPorts, configuration: Configuration, *, stop: Stop, children: Children
) -> None:
    settings = configuration.settings
    leftovers = Leftovers(
        output_folder=settings.output_folder,
        clock=ports.clock,
        sleep=ports.sleep,
        offload=ports.offload,
    )
    if settings.delete_files_after_upload:  # or else they are left on purpose
        await leftovers.move()
    watch = ClockWatch(ports.clock, stop, sleep=ports.sleep)
    await _until_done(loop.begin(), stop, children)
    watch.check()
    fields = {"worker_id": ports.worker_id, "slots": settings.max_concurrent_claude}
    logger.info("worker started", extra=fields)
    log_isolation(os.environ)
    companions = (
        _pulse(loop, settings, ports),
        leftovers.remove(),
        watch.keep(),
        EmptyWatch(ports, settings, stop=stop, load=lambda: loop.intake.load).keep(),
    )
    beside = [asyncio.create_task(companion) for companion in companions]
    presence = _presence(loop, ports, configuration)
    presence.begin()
    await _until_done(loop.run(), stop, children)
    for companion in beside:
        companion.cancel()
    leftovers.close()
    await presence.end()
    logger.info("worker stopped", extra=fields)
    watch.close()


def _presence(loop: Loop, ports: WorkerPorts, configuration: Configuration) -> PresenceReports:
    settings = configuration.settings
    directory = ports.pool.directory if ports.pool else None
    return PresenceReports(
        runtime_of(ports),
        ports.presence,
        worker_id=ports.worker_id,
        slots=settings.max_concurrent_claude,
        backend=default_backend(settings.agent_backend, Credential.found_in(os.environ)),
        functions=configuration.functions.names,
        load=lambda: loop.intake.load,
        changed=loop.intake.changed,
    ).of_pool(Membership(settings.pool, settings.when_empty, directory))


async def _pulse(loop: Loop, settings: WorkerSettings, ports: WorkerPorts) -> None:
    await keep_pulse(
        settings.output_folder, sick=lambda: loop.intake.machine.sick, sleep=ports.sleep
    )


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
    """Exit without waiting for threads: one may hold a long poll, for up to 20 s."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):  # a log on a full disk
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    leave(main())
