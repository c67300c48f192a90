"""Shows how much of the files of a job was sent, once that takes longer than a moment."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

if TYPE_CHECKING:
    from rich.console import Console

    from switchyard.ports import Clock

SHOWN_AFTER_SECONDS: Final = 2.0


@contextmanager
def upload_bar(console: Console, clock: Clock, *, total: int) -> Iterator[Callable[[int], None]]:
    """Yield what counts bytes; a bar appears on a terminal after two seconds."""
    began, done = clock.monotonic(), 0
    bar: Progress | None = None

    def count(size: int) -> None:
        nonlocal done, bar
        done += size
        if bar is None and console.is_terminal:
            if clock.monotonic() - began < SHOWN_AFTER_SECONDS:
                return
            bar = _bar(console, total)
        if bar is not None:
            bar.update(bar.task_ids[0], completed=min(done, total))

    try:
        yield count
    finally:
        if bar is not None:
            bar.stop()


def _bar(console: Console, total: int) -> Progress:
    columns = (TextColumn("Sending files"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=console, transient=True)
    bar.add_task("files", total=total)
    bar.start()
    return bar
