"""Which job an idempotency key stands for."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyTaken:
    """By the submission that came first, with what it said."""

    job_id: str
    body_hash: str
    created_at_ms: int


class SubmissionKeys(Protocol):
    def take(self, tenant: str, key: str, *, job_id: str, body_hash: str, now_ms: int) -> KeyTaken:
        """Let the key stand for this job, unless it stands for another: return the one it does.

        For a day; then it may be taken again. Whoever takes it again for the same job changes
        nothing. Raise `AnswerLost` when nobody knows: whoever asks again is told.
        """
