"""What a task prints, as it stands in its worker's log: a JSON line each, marked with the task."""

import json
from typing import Final

MARK: Final = "[WORKFLOW:{}]"


def mark_of(request_id: str) -> str:
    return MARK.format(request_id)


def printed_in(line: str, request_id: str) -> str | None:
    """What the task printed, if the log's line repeats it."""
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
