"""Events for people: when, what, whose, and the few facts that matter."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Final

from rich.text import Text

from switchyard.contracts.events import (
    CATALOGUE,
    JobCreated,
    JobFailureDetected,
    what_it_says,
)
from switchyard.contracts.events.facts import JOB_STATES, TASK_STATES
from switchyard.domain.states import job_status, task_status
from switchyard_cli.terminal import visible
from switchyard_cli.views.event_facts import facts_of
from switchyard_cli.views.statuses import symbol

if TYPE_CHECKING:
    from rich.console import Console

    from switchyard.contracts.events.views import EventView

EVENT_WIDTH: Final = max(map(len, CATALOGUE))
TIME_FORMAT: Final = "%H:%M:%S"


class EventLines:
    """Prints events as they come; a column grows with what it has to hold."""

    def __init__(self, console: Console, *, of_job: str | None) -> None:
        self._console = console
        self._prefix = f"{of_job}__" if of_job else ""
        self._job_id = of_job
        self._day = ""
        self._width = 0

    def show(self, events: Iterable[EventView]) -> None:
        rows = list(events)
        is_first = not self._width
        self._width = max([self._width, *(len(name) for e in rows for name in self._names(e))])
        if is_first:
            heads = ("time".ljust(12), "  event".ljust(EVENT_WIDTH + 2), "task".ljust(self._width))
            self._print(Text("  ".join([*heads, "what it says"]), style="dim"))
        for event in rows:
            self._show_day(event.timestamp.astimezone())
            self._print(self._line(event))

    def _show_day(self, when: datetime) -> None:
        day = when.strftime("%A, %d %B %Y")
        if day != self._day:
            self._print(Text(day, style="dim"))
        self._day = day

    def _line(self, event: EventView) -> Text:
        when = event.timestamp.astimezone()
        return Text("  ").join(
            [
                Text(f"{when:{TIME_FORMAT}}.{when.microsecond // 1000:03}", style="dim"),
                Text.assemble(_symbol(event), " ", visible(event.event_type).ljust(EVENT_WIDTH)),
                Text(self._whose(event).ljust(self._width)),
                Text(visible(", ".join(facts_of(event)))),
            ]
        )

    def _whose(self, event: EventView) -> str:
        if event.entity_id == self._job_id:
            return ""
        return visible(event.entity_id.removeprefix(self._prefix))

    def _names(self, event: EventView) -> list[str]:
        """Return the names to fit in: that of the event's task, and those of tasks to come."""
        said = what_it_says(event.stored())
        tasks = said.tasks if self._job_id and isinstance(said, JobCreated) else ()
        return ["task", self._whose(event), *(visible(task.task_id) for task in tasks)]

    def _print(self, line: Text) -> None:
        line.rstrip()
        if self._console.is_terminal:
            self._console.print(line, no_wrap=True, overflow="ellipsis")
        else:
            self._console.print(line, soft_wrap=True)


def _symbol(event: EventView) -> Text:
    model = CATALOGUE.get(event.event_type)
    if model is None:
        return Text(" ")
    if model in TASK_STATES:
        return symbol(task_status(TASK_STATES[model], attempt=1))
    if model in JOB_STATES:
        failed = model is JobFailureDetected
        return symbol(job_status(JOB_STATES[model], failure_detected=failed))
    return Text(" ")
