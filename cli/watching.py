"""Follows a job to its end, showing what changes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, Protocol

from rich.console import Console
from rich.live import Live

from cli.api import Api
from cli.changes import ChangeLines
from cli.picture import picture
from cli.statuses import FINAL
from switchyard.client.patience import patiently
from switchyard.client.waiting import as_it_changes
from switchyard.contracts.jobs import JobView
from switchyard.ports import Clock

LINES_AROUND_THE_TASKS: Final = 4


class Display(Protocol):
    def show(self, job: JobView) -> None: ...


def follow(
    api: Api, job_id: str, *, console: Console, clock: Clock, check: Callable[[], None]
) -> JobView:
    """Return the job once it is settled; `check` raises when waiting for that is in vain."""

    def look() -> JobView:
        return patiently(lambda: api.job(job_id), clock)

    with _display(console, clock) as display:
        for job in as_it_changes(api.job(job_id), look, clock):
            display.show(job)
            if job.status not in FINAL:
                check()
    return job


@contextmanager
def _display(console: Console, clock: Clock) -> Iterator[Display]:
    if not console.is_terminal:
        yield ChangeLines(console, clock)
        return
    live = LivePicture(console, clock)
    with live:
        yield live


class LivePicture:
    """Redraws the picture in place, cut to the screen; the last one stays."""

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
            self._console.print(picture(self._last, now_ms=self._clock.now_ms()))

    def show(self, job: JobView) -> None:
        self._last = job
        max_rows = self._console.height - LINES_AROUND_THE_TASKS
        now_ms = self._clock.now_ms()
        self._live.update(picture(job, now_ms=now_ms, max_rows=max_rows), refresh=True)
