"""`work`: a worker in the foreground, until a pool's groups are empty."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

import typer

from switchyard.domain.scheduling.pools import DEFAULT_POOL
from switchyard.domain.states import TaskState
from switchyard_cli.commands.local.cloud import saying
from switchyard_cli.errors import BadInput
from switchyard_cli.services import services_of
from switchyard_cli.terminal import clean, notices, results

SOMETHING_FAILED: Final = 1
WORKER_FAILED: Final = 3
MAX_LINE: Final = 100_000
SETTLED: Final = "task is settled"
SHOWN: Final = {
    "worker started": "Worker started",
    "attempt failed": "Attempt failed, will be tried again",
    "task is handed back": "Task is handed back",
    "worker leaves, since its groups are empty": "Nothing is left to do",
}


@dataclass
class BatchRun:
    """What a worker's log says of a batch run."""

    settled: int = 0
    failed: list[str] = field(default_factory=list)

    def read(self, line: str) -> str | None:
        """Take in a line of the log; return what is worth showing of it."""
        entry = _entry(line)
        message, task = entry.get("message"), clean(str(entry.get("request_id", "")))
        if message == SETTLED:
            self.settled += 1
            state = str(entry.get("state", ""))
            if state != TaskState.COMPLETED:
                self.failed.append(task)
            return f"{self.settled} settled: {task} {clean(state).lower()}"
        shown = SHOWN.get(message) if isinstance(message, str) else None
        return f"{shown} {task}".rstrip() if shown else None


def work(
    context: typer.Context,
    *,
    pool: Annotated[str, typer.Option(help="The pool whose groups are worked on.")] = DEFAULT_POOL,
    until_empty: Annotated[
        bool, typer.Option("--until-empty", help="End when its groups have no work left.")
    ] = False,
) -> None:
    """Run a worker of the local cloud here, until a pool has no work left.

    For batch runs and CI. It ends when nothing can be started, is delayed or runs in the groups of
    the pool, in two reads ten seconds apart; tasks that wait for others, for people or for a pool
    that serves them do not count. Exit code 0: all that it ran completed; 1: something failed.
    """
    if not until_empty:
        raise BadInput("Say --until-empty. For workers that stay there is `switchyard supervise`.")
    run, say = BatchRun(), saying(results())

    def read(line: str) -> None:
        shown = run.read(line)
        if shown:
            say(shown)

    code = services_of(context).cloud.work(pool, saying(notices()), read=read)
    _end(run, code)


def _end(run: BatchRun, code: int) -> None:
    results().print(f"{run.settled} tasks settled, {len(run.failed)} did not complete.")
    if code:
        notices().print(f"The worker ended with exit code {code}.", style="red")
        raise typer.Exit(WORKER_FAILED)
    if run.failed:
        raise typer.Exit(SOMETHING_FAILED)


def _entry(line: str) -> dict[str, Any]:
    """Read a line of the log as JSON; other lines say nothing."""
    try:
        found = json.loads(line) if len(line) <= MAX_LINE else None
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
