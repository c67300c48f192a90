"""Find a task, and suggest another id when there is none."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from switchyard.client.errors import ClientError, NotFound
from switchyard.domain.suggestions import did_you_mean

if TYPE_CHECKING:
    from switchyard.contracts.jobs import TaskView
    from switchyard_cli.connections.api import Api


def task_in(api: Api, job_id: str, task_id: str) -> TaskView:
    try:
        return api.task(job_id, task_id)
    except NotFound as error:
        known: list[str] = []
        with suppress(ClientError):
            known = [task.task_id for task in api.job(job_id).tasks]
        hint = did_you_mean(task_id, known)
        if not hint:
            raise
        raise NotFound(f"The job {job_id} has no task {task_id!r}{hint}") from error
