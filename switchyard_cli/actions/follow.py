"""Follows a job to its end, showing what changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Protocol

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from switchyard.client.patience import patiently
from switchyard.client.waiting import as_it_changes
from switchyard.contracts.jobs import JobView
from switchyard_cli.views.change_lines import ChangeLines
from switchyard_cli.views.job_table import job_table
from switchyard_cli.views.statuses import FINAL

if TYPE_CHECKING:
    from switchyard.ports import Clock
    from switchyard_cli.connections.api import Api

LINES_AROUND_THE_TASKS: Final = 5


Check = Callable[[JobView], str | None]
"""Returns why a job makes no progress, if that is known; raises when waiting is in vain."""


class Display(Protocol):
    def show(self, job: JobView, note: str | None) -> None: ...


def _nothing_to_say(_job: JobView) -> str | None:
    return None


def follow(
    api: Api, job_id: str, *, console: Console, clock: Clock, check: Check = _nothing_to_say
) -> JobView:
    """Return the job once it is settled, and show what `check` says of it on the way."""

    def look() -> JobView:
        return patiently(lambda: api.job(job_id), clock)

    with _display(console, clock) as display:
        for job in as_it_changes(api.job(job_id), look, clock):
            display.show(job, check(job) if job.status not in FINAL else None)
    return job


@contextmanager
def _display(console: Console, clock: Clock) -> Iterator[Display]:
    if not console.is_terminal:
        yield ChangeLines(console, clock)
        return
    live = LiveTable(console, clock)
    with live:
        yield live


class LiveTable:
    """Redraw the table of a job in place, cut to the screen; leave the last one."""

    def __init__(self, console: Console, clock: Clock) -> None:
        self._console = console
        self._clock = clock
        self._live = Live(console=console, auto_refresh=False, transient=True)
        self._last: JobView | None = None

    def __enter__(self) -> None:
        self._live.start()

    def __exit__(self, *_: object) -> None:
        self._live.stop()
        if self._last:
            self._console.print(job_table(self._last, now_ms=self._clock.now_ms()))

    def show(self, job: JobView, note: str | None) -> None:
        self._last = job
        max_rows = self._console.height - LINES_AROUND_THE_TASKS
        table = job_table(job, now_ms=self._clock.now_ms(), max_rows=max_rows)
        lines = [table, Text(note, style="yellow")] if note else [table]
        self._live.update(Group(*lines), refresh=True)
