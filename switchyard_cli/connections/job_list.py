"""The answers that `switchyard jobs` shows, read without Pydantic.

Their models are `JobPage` and `Health`. Importing what those need takes longer than all else that
a listing does, and it is the command that is typed most often.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, NamedTuple


class ListedJob(NamedTuple):
    job_id: str
    name: str
    status: str
    total_tasks: int
    created_at: datetime
    tags: dict[str, str]


class JobList(NamedTuple):
    jobs: tuple[ListedJob, ...]
    cursor: str | None


def read_jobs(text: str) -> JobList:
    """Raise `ValueError` if the text is no list of jobs."""
    document = _object(text)
    jobs, cursor = document.get("jobs"), document.get("cursor")
    if not isinstance(jobs, list) or not isinstance(cursor, str | None):
        raise ValueError("no list of jobs")
    return JobList(tuple(map(_job, jobs)), cursor)


def read_paused(text: str) -> bool:
    """Raise `ValueError` if the text does not report the health of an API."""
    document = _object(text)
    paused = document.get("paused", False)
    named = isinstance(document.get("stage"), str) and isinstance(document.get("version"), str)
    if not named or not isinstance(paused, bool):
        raise ValueError("no health of an API")
    return paused


def _job(found: Any) -> ListedJob:
    match found:
        case {
            "jobId": str(job_id),
            "name": str(name),
            "status": str(status),
            "totalTasks": int(total_tasks),
            "createdAt": str(created_at),
        }:
            moment = datetime.fromisoformat(created_at)
            return ListedJob(job_id, name, status, total_tasks, moment, _tags(found))
    raise ValueError("no job")


def _tags(found: dict[str, Any]) -> dict[str, str]:
    tags = found.get("tags", {})
    if not isinstance(tags, dict) or not all(isinstance(value, str) for value in tags.values()):
        raise ValueError("no tags")
    return tags


def _object(text: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except RecursionError as error:
        raise ValueError("too deep") from error
    if not isinstance(document, dict):
        raise ValueError("no object")
    return document
