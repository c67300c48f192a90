"""How many tasks run at once. A slot is taken before a message is."""

import asyncio


class Slots:
    def __init__(self, count: int) -> None:
        self._count = count
        self._free = count
        self._changed = asyncio.Condition()

    async def one_is_free(self) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: self._free > 0)

    async def all_are_free(self) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: self._free == self._count)

    def take(self, *, at_most: int) -> int:
        """Take as many as are free, up to the limit."""
        taken = min(self._free, at_most)
        self._free -= taken
        return taken

    async def give_back(self, count: int = 1) -> None:
        async with self._changed:
            self._free += count
            self._changed.notify_all()
