"""Parts of the work that operators pause: a queue, a definition or a tenant."""

from collections.abc import Collection
from typing import Final, Protocol

from switchyard.domain.errors import Rejected
from switchyard.domain.ids import TaskRef

MAX_PAUSED_PARTS: Final = 100
MAX_NAME: Final = 200


class Pausable(Protocol):
    """A task that waits for a worker."""

    @property
    def ref(self) -> TaskRef: ...

    @property
    def queue(self) -> str: ...

    @property
    def definition(self) -> str: ...


def part_named(kind: str, name: str) -> str:
    """Return how a part is called: `queue:research/deep`. Raise `Rejected`."""
    if not name or len(name) > MAX_NAME or not name.isprintable():
        raise Rejected(f"{kind}: a name has 1 to {MAX_NAME} printable characters")
    return f"{kind}:{name}"


def paused_by(task: Pausable, parts: Collection[str]) -> str | None:
    """Return the part that keeps the task from being started; `None` if none does."""
    own = (f"queue:{task.queue}", f"definition:{task.definition}", f"tenant:{task.ref.tenant}")
    return next((part for part in own if part in parts), None)
