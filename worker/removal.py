"""Removes what tasks leave on the disk; what resists is reported and tried again."""

from collections.abc import Awaitable, Callable
from typing import Final

from switchyard.bootstrap import Offload
from switchyard.contracts.worker_log import FILES_LEFT
from switchyard.observability import get_logger
from switchyard.ports import Clock, Sleep
from worker.folder import TaskFolder
from worker.slot_users import SlotUser, SlotUsers
from worker.trees import NotRemoved

logger = get_logger("worker")

MAX_SECONDS: Final = 20.0
SECONDS_BETWEEN_TRIES: Final = 30.0


class Removals:
    """A task's user is lent again only once none of its processes and files is left."""

    def __init__(
        self,
        *,
        users: SlotUsers,
        is_ended: Callable[[SlotUser], Awaitable[bool]],
        clock: Clock,
        sleep: Sleep,
        offload: Offload,
    ) -> None:
        self.left: list[TaskFolder] = []
        """Folders that could not be removed yet."""
        self._users = users
        self._is_ended = is_ended
        self._clock = clock
        self._sleep = sleep
        self._offload = offload

    async def remove(self, folder: TaskFolder) -> None:
        """Within a bound of time, off the loop."""
        if not await self._removed(folder):
            self.left.append(folder)

    async def keep(self) -> None:
        """Until cancelled, try again what could not be removed."""
        while True:
            await self._sleep(SECONDS_BETWEEN_TRIES)
            for folder in tuple(self.left):
                if await self._removed(folder):
                    self.left.remove(folder)

    async def _removed(self, folder: TaskFolder) -> bool:
        if folder.user and not await self._is_ended(folder.user):
            return False
        try:
            elsewhere = await self._offload(
                folder.remove, seconds=MAX_SECONDS, monotonic=self._clock.monotonic
            )
        except NotRemoved as problem:
            fields = {
                "folder": str(folder.path),
                "error": str(problem),
                "folders_left": len({*self.left, folder}),
            }
            logger.error(FILES_LEFT, extra=fields)
            return False
        if elsewhere:
            fields = {"folder": str(folder.path), "entries": elsewhere}
            logger.warning("task left files outside its folder, which are removed", extra=fields)
        folder.close()
        self._users.give_back(folder.user)
        return True
