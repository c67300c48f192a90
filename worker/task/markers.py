"""Lines on standard output that tell the worker what the child is doing."""

import json
from typing import Final, Literal

MARKER: Final = "::step "

Activity = Literal["step_running", "sdk_query", "waiting"]


def mark(activity: Activity, *, step: str) -> None:
    line = json.dumps({"type": activity, "stepName": step})
    print(f"{MARKER}{line}", flush=True)  # noqa: T201 - standard output is the channel
