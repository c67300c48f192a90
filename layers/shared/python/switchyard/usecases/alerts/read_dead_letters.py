"""Reads the archived dead letters of a queue, and makes incidents of them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from heapq import nlargest
from itertools import islice
from typing import Final

from switchyard.contracts.kept import Kept, kept_at
from switchyard.contracts.messages import Delivered, Malformed, parse_message
from switchyard.contracts.quarantine import QUARANTINED_BELOW
from switchyard.contracts.undeliverable import KEPT_BELOW, subject_of
from switchyard.domain.alerts.incidents import Incident
from switchyard.domain.alerts.stage_incidents import (
    DeadLetterFacts,
    DeadLettersSeen,
    dead_letters_incident,
)
from switchyard.domain.alerts.subjects import QUARANTINE, DeadLettersSubject
from switchyard.domain.errors import MissingBlob, NewerVersion, UnknownLetter
from switchyard.domain.ids import JobRef
from switchyard.ports import BlobStore, StoredBlob

MAX_COUNTED: Final = 2_000
MAX_READ: Final = 20


@dataclass(frozen=True, kw_only=True)
class DeadLetterReader:
    blobs: BlobStore
    stage: str

    def read(self, queue: str) -> tuple[Incident, Mapping[JobRef, Incident]]:
        """The incident of a queue, and one for each job whose messages were read in it."""
        stored = list(islice(self.blobs.listed(_prefix(queue)), MAX_COUNTED + 1))
        newest = nlargest(MAX_READ, stored, key=lambda blob: (blob.modified_at_ms, blob.key))
        letters = [self._facts(blob) for blob in newest]
        seen = DeadLettersSeen(
            subject=DeadLettersSubject(queue),
            count=min(len(stored), MAX_COUNTED),
            more=len(stored) > MAX_COUNTED,
            newest=tuple(facts for facts, _ in letters),
        )
        jobs = {ref for _, ref in letters if ref}
        by_job = {ref: tuple(f for f, job in letters if job == ref) for ref in jobs}
        return (
            dead_letters_incident(seen, stage=self.stage),
            {ref: self.job_incident(queue, ref, found) for ref, found in by_job.items()},
        )

    def job_incident(
        self, queue: str, ref: JobRef, letters: tuple[DeadLetterFacts, ...] = ()
    ) -> Incident:
        """The incident of a job's dead letters; each further one changes its fingerprint.

        A dead letter that is discarded does not change it, unless it was the last.
        """
        subject = DeadLettersSubject(queue, ref)
        seen = DeadLettersSeen(subject=subject, count=len(letters), more=False, newest=letters)
        fingerprint = letters[0].message_id if letters else "none"
        return replace(dead_letters_incident(seen, stage=self.stage), fingerprint=fingerprint)

    def _facts(self, blob: StoredBlob) -> tuple[DeadLetterFacts, JobRef | None]:
        try:
            kept = kept_at(blob.key, self.blobs.get(blob.key))
        except (MissingBlob, UnknownLetter) as problem:
            return _unreadable(blob, str(problem)), None
        return _facts(kept), _job_of(kept)


def _prefix(queue: str) -> str:
    return f"{QUARANTINED_BELOW}/" if queue == QUARANTINE else f"{KEPT_BELOW}/{queue}/"


def _facts(kept: Kept) -> DeadLetterFacts:
    event = subject_of(kept.body)
    job = _job_of(kept)
    return DeadLetterFacts(
        message_id=kept.id,
        queue=kept.queue,
        reason=kept.reason,
        event_type=event.event_type if event else None,
        entity=event.entity_id if event else (job.job_id if job else None),
        kept_at=kept.kept_at.isoformat(timespec="seconds"),
    )


def _unreadable(blob: StoredBlob, problem: str) -> DeadLetterFacts:
    return DeadLetterFacts(
        message_id=blob.key.rpartition("/")[2].removesuffix(".json"),
        queue="unknown",
        reason=problem,
        event_type=None,
        entity=None,
        kept_at="unknown",
    )


def _job_of(kept: Kept) -> JobRef | None:
    """The job of a task message of ours; messages of other producers belong to no job."""
    message = Delivered(body=kept.body, message_id=kept.id, sent_at_ms=0)
    try:
        ref = parse_message(message, tenant=None).ref
    except (Malformed, NewerVersion):
        return None
    return None if ref.bare else ref.job
