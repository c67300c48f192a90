"""Commands that need the local cloud for a while; the last to leave stops it again."""

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from switchyard_local.say import Say


@dataclass(frozen=True)
class Sharing:
    users: Path
    """The file on which every user of the cloud has a shared lock."""
    temporary: Path
    """The file that exists while the cloud is up only for its users."""

    @contextmanager
    def borrowed(
        self,
        say: Say,
        *,
        running: Callable[[], bool],
        up: Callable[[Say], object],
        down: Callable[[Say], None],
    ) -> Iterator[bool]:
        """Keep it up within the block; yield whether it will be stopped after its last user."""
        self.users.parent.mkdir(parents=True, exist_ok=True)
        with self.users.open("a") as handle:
            fcntl.flock(handle, fcntl.LOCK_SH)
            if not running():
                self.temporary.touch()  # before it is up: whatever interrupts us, it is stopped
            try:
                up(say)
                yield self.temporary.exists()
            finally:
                if self.temporary.exists() and self._is_last(handle.fileno(), say):
                    down(say)

    def keep(self) -> None:
        """Record that the cloud stays up after the commands that use it."""
        self.temporary.unlink(missing_ok=True)

    def _is_last(self, handle: int, say: Say) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Another command uses the local cloud and will stop it")
            return False
        return True
