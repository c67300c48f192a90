"""The operators' brake: while it is on, no task is taken."""

from typing import Final

from switchyard.bootstrap import WorkerPorts
from switchyard.domain.errors import Unavailable
from switchyard.domain.health.consumption import Pause
from switchyard.observability import get_logger

logger = get_logger("worker")

SECONDS_BETWEEN_LOOKS: Final = 10.0


class Brake:
    def __init__(self, ports: WorkerPorts) -> None:
        self._ports = ports
        self._pause: Pause | None = None
        self._next_look = ports.clock.monotonic()

    async def pause(self) -> Pause | None:
        """As it was seen within the last seconds; what cannot be seen stays as it was."""
        now = self._ports.clock.monotonic()
        if now >= self._next_look:
            self._next_look = now + SECONDS_BETWEEN_LOOKS
            await self._look()
        return self._pause

    async def _look(self) -> None:
        try:
            pause = await self._ports.offload(self._ports.consumption.paused)
        except Unavailable as outage:
            logger.warning("the brake cannot be seen", extra={"error": str(outage)})
            return
        if pause and not self._pause:
            logger.warning("consumption is paused", extra={"reason": pause.reason})
        elif self._pause and not pause:
            logger.info("consumption is resumed")
        self._pause = pause
