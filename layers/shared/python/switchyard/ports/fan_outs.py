"""The port for the steps of a fan-out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # a function's start need not load them
    from switchyard.domain.fan_out.plan import Expansion
    from switchyard.domain.ids import TaskRef
    from switchyard.domain.tasks.task import Outcome, Payload, Task


class FanOuts(Protocol):
    """The steps of a fan-out, which makes tasks and gathers what they made."""

    def note_expanded(self, task: Task, expanded: int, *, now_ms: int) -> Task:
        """Remember how many items are written, unless it is known of more.

        Return the task as it is. Raise `UnknownTask`.
        """

    def delay(self, task: Task, reason: str, *, due_at_ms: int) -> None:
        """Say why it is left for later; nothing happens when the task changed since."""

    def open(self, task: Task, expansion: Expansion, *, now_ms: int) -> bool:
        """Let all its tasks run, which are written, and the fan-out wait for them; count them in
        the job. All in one write: `False` if one of them is not as read.

        Opening again is answered as the first time. `AnswerLost` says that the result is unknown.
        """

    def replace(self, item: Task, payload: Payload, dependents: tuple[str, ...]) -> None:
        """Store an item of the present list, its data and its edges, in one write, in place of one
        that an earlier list had; nothing happens where none of an earlier list is.
        """

    def drop(self, ref: TaskRef, *, items_run: int, now_ms: int) -> Task | None:
        """End an item that only an earlier list had; `None` if it is none, or is under way.

        Dropping again is answered as the first time.
        """

    def gather(
        self, task: Task, outcome: Outcome, *, output_key: str | None, now_ms: int
    ) -> Task | None:
        """End a ready fan-out; its output is in the bucket, under that key, if it completed.

        Return `None` if it is not as read, unless it was ended in the same way.
        """
