"""Find a task, and suggest another id when there is none."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from switchyard.client.errors import ClientError, NotFound
from switchyard.domain.text import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from switchyard.contracts.jobs import TaskView
    from switchyard_cli.connections.api import Api


def task_in(api: Api, job_id: str, task_id: str) -> TaskView:
    with suggesting_task(api, job_id, task_id):
        return api.task(job_id, task_id)


@contextmanager
def suggesting_task(api: Api, job_id: str, task_id: str) -> Iterator[None]:
    """Suggest another task of the job where there is none with this id."""
    try:
        yield
    except NotFound as error:
        known: list[str] = []
        with suppress(ClientError):
            known = [task.task_id for task in api.job(job_id).tasks]
        hint = did_you_mean(task_id, known)
        if not hint:
            raise
        raise NotFound(f"The job {job_id} has no task {task_id!r}{hint}") from error
