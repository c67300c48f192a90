"""Deletes handled messages, those of several slots in one call.

Nothing waits for it: a message that is not deleted after all comes again, and finds its task done.
"""

import asyncio
from typing import Final

from switchyard.domain.errors import Unavailable
from switchyard.observability import get_logger
from switchyard.ports import Received, TaskInbox
from switchyard_worker.parent.coroutines import Runtime, first_of
from switchyard_worker.parent.receive.lease import LeaseTiming

logger = get_logger("worker")

LONGEST_LINGER_SECONDS: Final = 2.0
SHARE_OF_VISIBILITY: Final = 0.1  # it would be a pity if a message came again meanwhile


class Deletions:
    def __init__(self, runtime: Runtime, inbox: TaskInbox, timing: LeaseTiming) -> None:
        self._runtime = runtime
        self._inbox = inbox
        self._linger_seconds = min(
            LONGEST_LINGER_SECONDS, SHARE_OF_VISIBILITY * timing.visibility_seconds
        )
        self._messages: list[Received] = []
        self._some = asyncio.Event()
        self._closed = asyncio.Event()

    def add(self, message: Received) -> None:
        self._messages.append(message)
        self._some.set()

    def close(self) -> None:
        """Close for new messages."""
        self._closed.set()

    async def keep(self) -> None:
        """Delete messages until this is closed and all are deleted."""
        while await self._wait() == "some":
            linger = self._runtime.sleep(self._linger_seconds)
            await first_of({"closed": self._closed.wait(), "linger": linger})
            await self._flush()
        await self._flush()

    async def _wait(self) -> str:
        return await first_of({"closed": self._closed.wait(), "some": self._some.wait()})

    async def _flush(self) -> None:
        messages, self._messages = self._messages, []
        self._some.clear()
        if not messages:
            return
        try:
            await self._runtime.offload(self._inbox.delete, *messages)
        except Unavailable as outage:
            fields = {"messages": len(messages), "error": str(outage)}
            logger.warning("messages are not deleted", extra=fields)
