"""Idempotency keys: a second submission under the same key means the same job."""

import hashlib
import json
import re
from datetime import timedelta
from enum import Enum
from typing import Final

from switchyard.domain.ids import JobRef
from switchyard.domain.jobs.job import Job
from switchyard.domain.states import JobState
from switchyard.domain.tasks.task import Json, milliseconds

SUBMISSION_KEY: Final = re.compile(r'[!"$-~]{1,255}')
_NEVER: Final = 0


class KeyKind(Enum):
    """The origin of a key, and how long it stands for its job. Kinds do not share keys."""

    PRODUCER = timedelta(hours=24)
    """The key alone proves nothing: its body has to be the same as well."""
    TRIGGER = timedelta(days=400)
    """Made of an event, which decides alone: its trigger may have been changed since.

    A job of which nothing can have run is then begun anew, under another id.

    Longer than there is any way back for an event: parked messages are sent again within the year
    that the bucket keeps it, and queues forget sooner.
    """

    @property
    def life_ms(self) -> int:
        return milliseconds(self.value)


def problem_with_key(key: str) -> str | None:
    if SUBMISSION_KEY.fullmatch(key):
        return None
    return "must be 1 to 255 printable ASCII characters, without spaces and without #"


def body_hash(body: Json) -> str:
    """Return a hash of the content, whatever the order of its objects' members."""
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def given_up(ref: JobRef) -> Job:
    """Return the stand-in for a job whose key another has taken over: it is of no submission,
    so that a function that still writes the old job is refused, and cannot open it."""
    return Job(
        ref=ref, name="given up", state=JobState.WRITING, total_tasks=0, created_at_ms=_NEVER
    )
