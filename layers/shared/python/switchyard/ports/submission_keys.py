"""Which job an idempotency key stands for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from switchyard.domain.jobs.plan import Pinned
from switchyard.domain.jobs.submission_keys import KeyKind


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyTaken:
    """By the submission that came first, with what it said."""

    job_id: str
    body_hash: str
    created_at_ms: int
    pinned: Mapping[str, Pinned] | None = None
    """Its definitions, unless they are too many to remember."""
    trace: str | None = None
    """The `traceparent` it came with, if any."""


class SubmissionKeys(Protocol):
    def find(
        self, tenant: str, key: str, *, now_ms: int, kind: KeyKind = KeyKind.PRODUCER
    ) -> KeyTaken | None:
        """Which job the key stands for, if it still does."""

    def take(
        self, tenant: str, key: str, taken: KeyTaken, *, kind: KeyKind = KeyKind.PRODUCER
    ) -> KeyTaken:
        """Let the key stand for this job, unless it stands for another: return the one it does.

        As long as its kind lives; then it may be taken again. Whoever takes it again for the same
        job changes nothing. Raise `AnswerLost` when nobody knows: whoever asks again is told.
        """

    def take_over(
        self, tenant: str, key: str, taken: KeyTaken, *, instead_of: str, kind: KeyKind
    ) -> KeyTaken:
        """Let the key stand for another job than it does, unless something of that one may run:
        return the one it stands for.

        In the same write the old job becomes one that nobody can write or open, even who is about
        to. Raise `AnswerLost` as `take`.
        """
