"""Lines on standard output that tell the worker what the child is doing."""

import hashlib
import json
from collections.abc import Callable
from typing import Any, Final, Literal, NamedTuple, cast

MARKER: Final = "::step "
MAX_STEP_CHARACTERS: Final = 64
MAX_CALL_CHARACTERS: Final = 32
MAX_LINE_BYTES: Final = 1_000  # as much as a marker of ours can have

Activity = Literal["step_running", "sdk_query", "waiting"]
_ACTIVITIES: Final = frozenset({"step_running", "sdk_query", "waiting"})


class Marked(NamedTuple):
    activity: Activity
    step: str
    call: str
    """The same for the same tool with the same input; empty if no tool was called."""


def mark(activity: Activity, *, step: str, call: str = "") -> None:
    told = {"type": activity, "stepName": step} | ({"call": call} if call else {})
    print(f"{MARKER}{json.dumps(told)}", flush=True)  # noqa: T201 - standard output is the channel


def mark_call(tool: str, given: Any, *, step: str) -> None:
    """That an agent calls a tool. What it is given is nobody's business: a digest will do."""
    text = json.dumps([tool, given], sort_keys=True, default=str)
    digest = hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
    mark("sdk_query", step=step, call=digest)


def marked_in(line: bytes, cleaned: Callable[[str], str] = str) -> Marked | None:
    """What a line marks, if it is a marker; an agent may print one, too.

    `cleaned` is applied to its texts, which may be escaped in the line, before they are cut.
    """
    if not line.startswith(MARKER.encode()) or len(line) > MAX_LINE_BYTES:
        return None
    try:
        told = json.loads(line.removeprefix(MARKER.encode()))
        activity, step, call = told["type"], told["stepName"], told.get("call", "")
    except (ValueError, TypeError, LookupError, RecursionError):
        return None
    if not all(isinstance(said, str) and said.isprintable() for said in (activity, step, call)):
        return None
    if activity not in _ACTIVITIES:
        return None
    return Marked(
        cast("Activity", activity),
        cleaned(step)[:MAX_STEP_CHARACTERS],
        cleaned(call)[:MAX_CALL_CHARACTERS],
    )
