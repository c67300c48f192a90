"""Gives attempts their folders, and takes them back."""

from dataclasses import dataclass
from pathlib import Path

from switchyard.bootstrap import Offload
from switchyard.domain.tasks.task import Lease
from switchyard_worker.parent.files.folder import TaskFolder
from switchyard_worker.parent.files.removal import Removals
from switchyard_worker.parent.files.users import SlotUser, SlotUsers


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptFolders:
    """Gives each attempt a folder, and a user of its own where tasks have users."""

    output_folder: Path
    users: SlotUsers
    removals: Removals
    offload: Offload
    delete_files: bool

    async def make(self, lease: Lease, part: str = "") -> TaskFolder:
        """Make the folder of an attempt, or that of one of its graders. Raise `OSError`."""
        user: SlotUser | None = self.users.take()
        try:
            return await self.offload(TaskFolder.fresh, self.output_folder, lease, user, part)
        except BaseException:
            self.users.give_back(user)
            raise

    async def remove(self, folder: TaskFolder) -> None:
        """Remove a folder and everything in it, unless files are left on purpose."""
        if self.delete_files:
            await self.removals.remove(folder)
        else:
            folder.close()
