"""Lines on standard output that tell the worker what the child is doing."""

import json
from typing import Final, Literal, cast

MARKER: Final = "::step "
MAX_STEP_CHARACTERS: Final = 64

Activity = Literal["step_running", "sdk_query", "waiting"]
_ACTIVITIES: Final = frozenset({"step_running", "sdk_query", "waiting"})


def mark(activity: Activity, *, step: str) -> None:
    line = json.dumps({"type": activity, "stepName": step})
    print(f"{MARKER}{line}", flush=True)  # noqa: T201 - standard output is the channel


def marked_in(line: bytes) -> tuple[Activity, str] | None:
    """What a line marks, if it is a marker; an agent may print one, too."""
    if not line.startswith(MARKER.encode()):
        return None
    try:
        told = json.loads(line.removeprefix(MARKER.encode()))
        activity, step = told["type"], told["stepName"]
    except (ValueError, TypeError, LookupError, RecursionError):
        return None
    if not isinstance(activity, str) or not isinstance(step, str):
        return None
    if activity not in _ACTIVITIES or not step.isprintable():
        return None
    return cast("Activity", activity), step[:MAX_STEP_CHARACTERS]
