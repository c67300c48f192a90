"""Looks at what is kept because nobody could handle it."""

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
from switchyard.domain.alerts.letters_incident import (
    QUARANTINE,
    LetterFacts,
    LettersSeen,
    letters_incident,
    letters_subject,
)
from switchyard.domain.errors import MissingBlob, NewerVersion, UnknownLetter
from switchyard.domain.ids import JobRef
from switchyard.ports import BlobStore, StoredBlob

COUNTED: Final = 2_000
READ: Final = 20


@dataclass(frozen=True, kw_only=True)
class LettersWatch:
    blobs: BlobStore
    stage: str

    def look(self, place: str) -> tuple[Incident, Mapping[JobRef, Incident]]:
        """What there is to tell of a place, and of each job whose messages were read there."""
        stored = list(islice(self.blobs.listed(_prefix(place)), COUNTED + 1))
        newest = nlargest(READ, stored, key=lambda blob: (blob.modified_at_ms, blob.key))
        letters = [self._read(blob) for blob in newest]
        seen = LettersSeen(
            place=place,
            count=min(len(stored), COUNTED),
            more=len(stored) > COUNTED,
            newest=tuple(facts for facts, _ in letters),
        )
        jobs = {ref for _, ref in letters if ref}
        by_job = {ref: tuple(f for f, job in letters if job == ref) for ref in jobs}
        return (
            letters_incident(seen, stage=self.stage),
            {ref: self._of_job(place, ref, found) for ref, found in by_job.items()},
        )

    def none_of(self, place: str, ref: JobRef) -> Incident:
        return self._of_job(place, ref, ())

    def _read(self, blob: StoredBlob) -> tuple[LetterFacts, JobRef | None]:
        try:
            kept = kept_at(blob.key, self.blobs.get(blob.key))
        except (MissingBlob, UnknownLetter) as problem:
            return _unreadable(blob, str(problem)), None
        return _facts(kept), _job_of(kept)

    def _of_job(self, place: str, ref: JobRef, found: tuple[LetterFacts, ...]) -> Incident:
        """Each further letter is news: nobody is told when one of them is discarded."""
        seen = LettersSeen(place=place, count=len(found), more=False, newest=found)
        return replace(
            letters_incident(seen, stage=self.stage),
            subject=f"{letters_subject(place)}/{ref.tenant}/{ref.job_id}",
            fingerprint=found[0].message_id if found else "none",
        )


def _prefix(place: str) -> str:
    return f"{QUARANTINED_BELOW}/" if place == QUARANTINE else f"{KEPT_BELOW}/{place}/"


def _facts(kept: Kept) -> LetterFacts:
    subject = subject_of(kept.body)
    job = _job_of(kept)
    entity = subject.entity_id if subject else (job.job_id if job else None)
    return LetterFacts(
        message_id=kept.id,
        queue=kept.queue,
        reason=kept.reason,
        event_type=subject.event_type if subject else None,
        entity=entity,
        kept_at=kept.kept_at.isoformat(timespec="seconds"),
    )


def _unreadable(blob: StoredBlob, problem: str) -> LetterFacts:
    return LetterFacts(
        message_id=blob.key.rpartition("/")[2].removesuffix(".json"),
        queue="unknown",
        reason=problem,
        event_type=None,
        entity=None,
        kept_at="unknown",
    )


def _job_of(kept: Kept) -> JobRef | None:
    """Of a wake-up of ours; others' messages belong to no job."""
    message = Delivered(body=kept.body, message_id=kept.id, sent_at_ms=0)
    try:
        ref = parse_message(message, tenant=None).ref
    except (Malformed, NewerVersion):
        return None
    return None if ref.bare else ref.job
