"""Reads the parked messages of a queue, and makes incidents of them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from heapq import nlargest
from itertools import chain, islice
from typing import Final

from switchyard.contracts.messages import Delivered, Malformed, parse_message
from switchyard.contracts.parked_messages import (
    PARKED_PREFIX,
    QUARANTINE_PREFIX,
    UNDELIVERABLE_PREFIX,
    ParkedMessage,
    event_in,
    read_parked,
)
from switchyard.domain.alerts.incidents import Incident
from switchyard.domain.alerts.stage_incidents import (
    DeadLetterFacts,
    DeadLettersSeen,
    dead_letters_incident,
)
from switchyard.domain.alerts.subjects import QUARANTINE, DeadLettersSubject
from switchyard.domain.errors import MissingBlob, NewerVersion, UnknownParkedMessage
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
        listed = chain.from_iterable(map(self.blobs.listed, _prefixes(queue)))
        stored = list(islice(listed, MAX_COUNTED + 1))
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
            parked = read_parked(blob.key, self.blobs.get(blob.key))
        except (MissingBlob, UnknownParkedMessage) as problem:
            return _unreadable(blob, str(problem)), None
        return _facts(parked), _job_of(parked)


def _prefixes(queue: str) -> tuple[str, ...]:
    if queue == QUARANTINE:
        return (QUARANTINE_PREFIX,)
    return f"{PARKED_PREFIX}{queue}/", f"{UNDELIVERABLE_PREFIX}{queue}/"


def _facts(parked: ParkedMessage) -> DeadLetterFacts:
    event = event_in(parked.body)
    job = _job_of(parked)
    return DeadLetterFacts(
        message_id=parked.id,
        queue=parked.queue,
        reason=parked.reason,
        event_type=event.event_type if event else None,
        entity=event.entity_id if event else (job.job_id if job else None),
        parked_at=parked.parked_at.isoformat(timespec="seconds"),
    )


def _unreadable(blob: StoredBlob, problem: str) -> DeadLetterFacts:
    return DeadLetterFacts(
        message_id=blob.key.rpartition("/")[2].removesuffix(".json"),
        queue="unknown",
        reason=problem,
        event_type=None,
        entity=None,
        parked_at="unknown",
    )


def _job_of(parked: ParkedMessage) -> JobRef | None:
    """The job of a task message of ours; messages of other producers belong to no job."""
    message = Delivered(body=parked.body, message_id=parked.id, sent_at_ms=0)
    try:
        ref = parse_message(message, tenant=None).ref
    except (Malformed, NewerVersion):
        return None
    return None if ref.bare else ref.job
