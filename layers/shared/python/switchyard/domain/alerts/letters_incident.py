"""Messages that nobody could handle, as an incident: as long as any are kept."""

import hashlib
from collections import Counter
from dataclasses import dataclass
from typing import Final

from switchyard.domain.alerts.causes import cause_of
from switchyard.domain.alerts.incidents import Incident, Section, Severity

SUBJECT_PREFIX: Final = "letters/"
QUARANTINE: Final = "quarantine"
"""In the place of a queue: what is put aside lies together, whichever queue it came from."""
NEWEST_SHOWN: Final = 3
CAUSES_SHOWN: Final = 10
EXACT_UP_TO: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class LetterFacts:
    message_id: str
    queue: str
    reason: str
    event_type: str | None
    entity: str | None
    kept_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LettersSeen:
    place: str
    """A queue's name, or `QUARANTINE`."""
    count: int
    more: bool
    """Whether there are more than were counted."""
    newest: tuple[LetterFacts, ...]
    """The newest of them, the last one first: those that were read."""


def letters_subject(place: str) -> str:
    return f"{SUBJECT_PREFIX}{place}"


def letters_incident(seen: LettersSeen, *, stage: str) -> Incident:
    title = _title(seen)
    return Incident(
        subject=letters_subject(seen.place),
        severity=Severity.CRITICAL,
        open=seen.count > 0,
        title=title,
        sections=_sections(seen, stage) if seen.count else (),
        fingerprint=_fingerprint(seen),
        news=f"Now: {title}" if seen.count else f"Over: {title}",
    )


def _title(seen: LettersSeen) -> str:
    quarantined = seen.place == QUARANTINE
    where = "in quarantine" if quarantined else f"undeliverable, from {seen.place}"
    if not seen.count:
        return f"No messages are {where} any more"
    return f"{_number(seen)} {'message' if seen.count == 1 else 'messages'} {where}"


def _number(seen: LettersSeen) -> str:
    return f"more than {seen.count:,}" if seen.more else f"{seen.count:,}"


def _sections(seen: LettersSeen, stage: str) -> tuple[Section, ...]:
    commands = (
        f"switchyard dlq --stage {stage}",
        f"switchyard dlq show {seen.newest[0].message_id} --stage {stage}" if seen.newest else "",
        f"switchyard dlq redrive --cause CODE --canary --stage {stage}",
    )
    return (
        _causes(seen),
        *map(_letter, seen.newest[:NEWEST_SHOWN]),
        Section(title="What to do", commands=tuple(filter(None, commands))),
    )


def _causes(seen: LettersSeen) -> Section:
    found = Counter(cause_of(letter.reason) for letter in seen.newest).most_common(CAUSES_SHOWN)
    read = len(seen.newest)
    among = "" if read == seen.count and not seen.more else f" (of the newest {read})"
    return Section(
        title=f"By cause{among}", facts=tuple((f"{count:,}", cause) for cause, count in found)
    )


def _letter(letter: LetterFacts) -> Section:
    return Section(
        title=letter.event_type or "A message",
        facts=(
            ("entity", letter.entity or "unknown"),
            ("kept at", letter.kept_at),
            ("message", letter.message_id),
            ("queue", letter.queue),
        ),
        text=letter.reason,
    )


def _fingerprint(seen: LettersSeen) -> str:
    """Many are told in steps: nobody reads a line for each of a thousand."""
    causes = sorted({cause_of(letter.reason) for letter in seen.newest})
    said = "\n".join([str(_rounded(seen.count)), *causes])
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def _rounded(count: int) -> int:
    """10, 20, 50, 100, 200, …"""
    if count <= EXACT_UP_TO:
        return count
    power: int = 10 ** (len(str(count)) - 1)
    return next(step * power for step in (5, 2, 1) if step * power <= count)
