"""Stopping well: a signal sets an event, everything else follows from reading it."""

import asyncio
import signal

from switchyard.ports import Sleep


class Stop:
    """What the platform has asked for so far."""

    def __init__(self, *, grace_seconds: float, sleep: Sleep) -> None:
        self.asked = asyncio.Event()
        """Take nothing new."""
        self.grace_over = asyncio.Event()
        """Hand back what still runs."""
        self.insisted = asyncio.Event()
        """Leave at once."""
        self._grace_seconds = grace_seconds
        self._sleep = sleep

    def listen(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.ask)

    def ask(self) -> None:
        (self.insisted if self.asked.is_set() else self.asked).set()

    async def end_grace(self) -> None:
        await self.asked.wait()
        await self._sleep(self._grace_seconds)
        self.grace_over.set()
