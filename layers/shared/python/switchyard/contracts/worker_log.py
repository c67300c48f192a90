"""Lines of a worker's log that others read: what a task prints, and what is counted.

What a task prints is a JSON line each, marked with the task. From the messages below a metric
filter counts (`stacks/constructs/worker_log_metrics.py`), so they are part of a contract.
"""

import json
from typing import Final

MARK: Final = "[WORKFLOW:{}]"


BUG: Final = "message failed by a bug"
PROCESSES_LEFT: Final = "processes could not be ended yet"
USERS_PROCESSES_LEFT: Final = "processes of a task's user may be left"
FILES_LEFT: Final = "files of a task could not be removed yet"


def mark_of(request_id: str) -> str:
    return MARK.format(request_id)


def printed_in(line: str, request_id: str) -> str | None:
    """Return the line that the task printed, if the worker's log line repeats one."""
    mark = mark_of(request_id)
    if mark not in line:  # nearly all are others'
        return None
    try:
        message = json.loads(line)["message"]
    except (ValueError, TypeError, LookupError):
        return None
    if not isinstance(message, str) or not message.startswith(f"{mark} "):
        return None
    return message.removeprefix(f"{mark} ")
