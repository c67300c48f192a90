"""Reads the output of a task: as the task runs, or as it was stored when the task had ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from switchyard.client.patience import patiently
from switchyard.client.statuses import FINAL
from switchyard_worker.boundary import marked_in

if TYPE_CHECKING:
    from switchyard.contracts.jobs import TaskView
    from switchyard.ports import Clock, TaskOutput
    from switchyard_cli.connections.api import Api

POLL_SECONDS: Final = 1.0
STORED: Final = ("logs/stdout.log", "logs/stderr.log", "logs/summary.log")


def as_printed(
    output: TaskOutput, look: Callable[[], TaskView], clock: Clock
) -> Iterator[Sequence[str]]:
    """Yield new lines until the task has settled and no more lines come."""
    while True:
        settled = patiently(look, clock).status in FINAL
        news = output.news()
        if news:
            yield news
        elif settled:
            return
        clock.sleep(POLL_SECONDS)


def readable(line: str) -> str:
    """Return the line for people: a child's report of its progress to the worker is rewritten."""
    marked = marked_in(line.encode())
    if marked is None:
        return line
    if marked.activity == "progress":
        return f"· {marked.step}"
    return f"· {marked.step}: {marked.activity.replace('_', ' ')}"


def stored(task: TaskView, api: Api) -> list[str]:
    """Return the stored output of the attempt that settled the task."""
    links = {link.name: link for link in task.files}
    texts = [b"".join(api.download(links[name])) for name in STORED if name in links]
    return [line for text in texts for line in text.decode("utf-8", "replace").splitlines()]
