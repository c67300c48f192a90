"""Jobs and tasks as people name them on the command line."""

from switchyard.domain.ids import ANY_TASK_ID, JOB_ID, split_request_id
from switchyard_cli.errors import BadInput


def job_named(given: str) -> str:
    if not JOB_ID.fullmatch(given):
        raise BadInput(f"{given!r} is not a job id; `switchyard jobs` lists them.")
    return given


def task_named(request: str, task: str | None) -> tuple[str, str]:
    """Return the ids of a job and its task, named by a request id or by both."""
    if task is None:
        if JOB_ID.fullmatch(request):
            raise BadInput(f"Which task of {request}? Name it after the job's id.")
        try:
            return split_request_id(request)
        except ValueError as error:
            raise BadInput(f"{error}. A job's id followed by a task's will do, too.") from error
    if not ANY_TASK_ID.fullmatch(task):
        raise BadInput(f"{task!r} is not a task id.")
    return job_named(request), task
