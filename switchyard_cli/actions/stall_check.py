"""Say why a job makes no progress while it is watched."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from switchyard.client.errors import ClientError
from switchyard_cli.views.statuses import FINAL

if TYPE_CHECKING:
    from switchyard.contracts.jobs import JobView
    from switchyard.ports import Clock
    from switchyard_cli.actions.worker_check import WorkerCheck
    from switchyard_cli.connections.api import Api

SECONDS_BETWEEN_LOOKS: Final = 5.0
LONG_WAIT_SECONDS: Final = 30.0


class StallCheck:
    """Looks at consumption whenever no task of the job runs."""

    def __init__(self, api: Api, clock: Clock, *, worker: WorkerCheck | None) -> None:
        self._api = api
        self._clock = clock
        self._worker = worker
        self._idle_since: float | None = None
        self._next_look = 0.0
        self._paused = False

    def __call__(self, job: JobView) -> str | None:
        """Return a sentence for the user; raise `Unreachable` if the local cloud has no worker."""
        if self._worker:
            self._worker()
        if any(task.status == "processing" for task in job.tasks):
            self._idle_since = None
            return None
        now = self._clock.monotonic()
        if self._idle_since is None:
            self._idle_since = self._next_look = now
        option = self._api.endpoint.stage.option
        if self._is_paused(now):
            return f"Consumption is paused: no task is started until `switchyard resume{option}`."
        held = _held(job, option)
        if held is not None:
            return held
        waited = now - self._idle_since
        waits = any(task.status not in FINAL for task in job.tasks)
        if waits and waited >= LONG_WAIT_SECONDS:
            seconds = int(waited // LONG_WAIT_SECONDS * LONG_WAIT_SECONDS)
            return f"No task has run for {seconds} s. Ask `switchyard doctor{option}` why."
        return None

    def _is_paused(self, now: float) -> bool:
        if now >= self._next_look:
            self._next_look = now + SECONDS_BETWEEN_LOOKS
            with suppress(ClientError):
                self._paused = self._api.health().paused
        return self._paused


def _held(job: JobView, option: str) -> str | None:
    """Say what ends the first task that is held; `None` if there is none."""
    held = [task for task in job.tasks if task.status == "held"]
    if not held:
        return None
    task, named = held[0], f"{job.job_id} {held[0].task_id}{option}"
    until = f" until {task.held_until:%Y-%m-%d %H:%M} UTC" if task.held_until else ""
    match task.kind:
        case "approval":
            return f"{task.task_id} waits for a person: `switchyard approve {named}`, or `reject`."
        case "signal":
            return f"{task.task_id} waits for a signal: `switchyard signal {named}`."
    return f"{task.task_id} waits{until}; a wait ends within a minute after its time."
