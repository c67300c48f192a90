"""Finds the files of a task: in the bucket, and on this machine if the task's worker runs here.

Both places call them `{requestId}/{fence}/`, so no attempt overwrites another's.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from switchyard.domain.ids import folder_name

if TYPE_CHECKING:
    from switchyard.contracts.jobs import TaskView
    from switchyard_cli.connections.endpoints import Endpoint


def folder_of(task: TaskView, endpoint: Endpoint) -> Path | None:
    """Return the folder on this machine, as seen from the current one; `None` if it is not here."""
    _, request_id, fence = (task.artifacts or "").partition(task.request_id)
    if endpoint.output_folder is None or not request_id:
        return None
    folder = endpoint.output_folder / folder_name(request_id) / fence.strip("/")
    if not folder.is_dir():
        return None
    here = Path.cwd()
    return folder.relative_to(here) if folder.is_relative_to(here) else folder


def bucket_prefix(task: TaskView) -> str:
    return (task.artifacts or "").partition(task.request_id)[0]
