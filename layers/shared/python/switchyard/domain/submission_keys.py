"""Idempotency keys: whoever submits again under the same key means the same job."""

import hashlib
import json
import re
from datetime import timedelta
from typing import Final

from switchyard.domain.task import Json, milliseconds

SUBMISSION_KEY: Final = re.compile(r'[!"$-~]{1,255}')
KEY_LIFE_MS: Final = milliseconds(timedelta(hours=24))


def problem_with_key(key: str) -> str | None:
    if SUBMISSION_KEY.fullmatch(key):
        return None
    return "must be 1 to 255 printable ASCII characters, without spaces and without #"


def body_hash(body: Json) -> str:
    """The same for bodies that say the same, in whichever order their objects say it."""
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
