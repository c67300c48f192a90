"""Items that make a request count once: keys of submissions, and requests seen before."""

from dataclasses import replace
from typing import Final

from switchyard.adapters.dynamodb.items import job_name, known_in
from switchyard.adapters.dynamodb.scheduling.work_queues import terms_from, terms_item
from switchyard.adapters.dynamodb.table import DynamoDbTable, FailedCondition, Key, Update, key_item
from switchyard.adapters.dynamodb.transition_writes import Write, write_of
from switchyard.adapters.dynamodb.values import Item
from switchyard.contracts.tables import DEDUPLICATION_PREFIX, TTL
from switchyard.domain.errors import Unavailable
from switchyard.domain.ids import JobRef
from switchyard.domain.jobs.plan import Pinned
from switchyard.domain.jobs.submission_keys import KeyKind
from switchyard.domain.jobs.transitions import give_up_submission
from switchyard.ports import KeyTaken


class DynamoDbSubmissionKeys:
    def __init__(self, table: DynamoDbTable) -> None:
        self._table = table

    def find(
        self, tenant: str, key: str, *, now_ms: int, kind: KeyKind = KeyKind.PRODUCER
    ) -> KeyTaken | None:
        item = self._table.get(_key(tenant, key, kind))
        return _taken(item) if item and item["created_at_ms"] > now_ms - kind.life_ms else None

    def take(
        self, tenant: str, key: str, taken: KeyTaken, *, kind: KeyKind = KeyKind.PRODUCER
    ) -> KeyTaken:
        answer = self._table.update(
            _key(tenant, key, kind),
            Update(
                set=_attributes(taken, kind),
                condition="attribute_not_exists(#PK) OR #created_at_ms <= :expired",
                values={"expired": taken.created_at_ms - kind.life_ms},
            ),
        )
        item = answer.item if isinstance(answer, FailedCondition) else answer
        return _found(item, key)

    def take_over(
        self, tenant: str, key: str, taken: KeyTaken, *, instead_of: str, kind: KeyKind
    ) -> KeyTaken:
        """The job item as well: who writes or opens that job looks there."""
        place = _key(tenant, key, kind)
        key_now = Update(
            set=_attributes(taken, kind),
            condition="#job_id = :old",
            values={"old": instead_of},
        )
        if self._table.transact((place, key_now), _given_up(JobRef(tenant, instead_of))):
            return taken
        return _found(self._table.get(place), key)


def _given_up(ref: JobRef) -> Write:
    """Return the write with what names the job: there may be no item yet."""
    key, update = write_of(ref, give_up_submission(ref))
    return key, replace(update, set={**update.set, **job_name(ref)})


def _attributes(taken: KeyTaken, kind: KeyKind) -> Item:
    pinned = taken.pinned
    return {
        "job_id": taken.job_id,
        "body_hash": taken.body_hash,
        "created_at_ms": taken.created_at_ms,
        "pinned": pinned and {name: _pin(p) for name, p in pinned.items()},
        "trace": taken.trace,
        TTL: (taken.created_at_ms + kind.life_ms) // 1000,
    }


def _found(item: Item | None, key: str) -> KeyTaken:
    if item is None:
        raise Unavailable(f"{key!r} expired while it was looked at")
    return _taken(item)


def _taken(item: Item) -> KeyTaken:
    pinned = item.get("pinned")
    return KeyTaken(
        job_id=item["job_id"],
        body_hash=item["body_hash"],
        created_at_ms=item["created_at_ms"],
        pinned=pinned and {name: _pinned(pin) for name, pin in pinned.items()},
        trace=item.get("trace"),
    )


def _pin(pinned: Pinned) -> Item:
    terms = {"terms": terms_item(pinned.terms)} if pinned.terms else {}
    return {"version": pinned.version, "max_attempts": pinned.max_attempts, **terms}


def _pinned(pin: Item) -> Pinned:
    known = known_in(pin, Pinned)
    return Pinned(**known | {"terms": terms_from(pin["terms"]) if "terms" in pin else None})


_PREFIXES: Final = {KeyKind.PRODUCER: "KEY", KeyKind.TRIGGER: "TRIGGERKEY"}
"""The prefixes of keys by kind. No producer's key has a #, so none of them is a trigger's."""


def _key(tenant: str, key: str, kind: KeyKind) -> Key:
    return f"TENANT#{tenant}#{_PREFIXES[kind]}#{key}", "KEY"


class DynamoDbDeduplication:
    def __init__(self, table: DynamoDbTable) -> None:
        self._table = table

    def first(self, name: str, *, now_ms: int, keep_ms: int) -> bool:
        used = {
            **key_item((f"{DEDUPLICATION_PREFIX}{name}", "ONCE")),
            TTL: (now_ms + keep_ms) // 1000 + 1,
        }
        return self._table.put_new(used)
