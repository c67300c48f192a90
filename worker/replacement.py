"""Sees that a newer release replaces this worker, and says what the rollout waits for."""

import asyncio
from typing import Final

from switchyard.bootstrap import WorkerPorts
from switchyard.domain.errors import Unavailable
from switchyard.domain.health.rollout import Deployment
from switchyard.observability import get_logger
from worker.protection import Protection
from worker.stopping import Stop
from worker.waiting import first_of

logger = get_logger("worker")

SECONDS_BETWEEN_LOOKS: Final = 60.0


class Replacement:
    def __init__(self, ports: WorkerPorts, protection: Protection, *, stop: Stop) -> None:
        self.changed = asyncio.Event()
        """Set when the answer changes; whoever waits for it clears it."""
        self._ports = ports
        self._protection = protection
        self._stop = stop
        self._deployment: Deployment | None = None
        self._is_seen = True

    @property
    def deployment(self) -> Deployment | None:
        """As it was seen last; `None` until then, and where nothing replaces workers."""
        return self._deployment

    @property
    def replaced(self) -> bool:
        return self._deployment is not None and self._deployment.replaced

    async def watch(self) -> None:
        """Look about once a minute, each worker at times of its own, until a stop is asked for."""
        while not self._stop.asked.is_set():
            if await self._look() and self._deployment is None:
                return  # no service replaces workers here
            seconds = self._ports.randomness.between(
                SECONDS_BETWEEN_LOOKS / 2, SECONDS_BETWEEN_LOOKS
            )
            await first_of({"stop": self._stop.asked.wait(), "pause": self._ports.sleep(seconds)})

    async def _look(self) -> bool:
        """Return whether anything was seen; what cannot be seen stays as it was."""
        try:
            found = await self._ports.offload(self._ports.deployments.look)
        except Unavailable as outage:
            if self._is_seen:
                logger.warning("deployment cannot be seen", extra={"error": str(outage)})
            self._is_seen = False
            return False
        self._is_seen = True
        self._note(found)
        return True

    def _note(self, found: Deployment | None) -> None:
        was_replaced = self.replaced
        if found != self._deployment:
            self.changed.set()
        self._deployment = found
        if found is not None and found.replaced:
            self._protection.draining.set()
            self._log_waiting(found)
        else:
            self._protection.draining.clear()
            if was_replaced:
                logger.info("worker is current again and takes tasks")

    def _log_waiting(self, found: Deployment) -> None:
        """Once a minute, so that a rollout that takes long says why."""
        fields = {
            "release": found.own,
            "current_release": found.current,
            "tasks": self._protection.tasks,
            "at_most_seconds": round(self._protection.remaining_seconds or 0),
        }
        logger.info("worker is replaced: it finishes its tasks and takes no more", extra=fields)
