"""Idempotency keys in the state table, which forgets them by itself, sooner or later."""

from collections.abc import Mapping
from typing import Final

from switchyard.adapters.dynamodb.table import DynamoDbTable, Key, Refusal, Update
from switchyard.adapters.dynamodb.values import Item
from switchyard.contracts.tables import TTL
from switchyard.domain.errors import Unavailable
from switchyard.domain.plan import Pinned
from switchyard.domain.submission_keys import KeyKind
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
        self,
        tenant: str,
        key: str,
        *,
        job_id: str,
        body_hash: str,
        now_ms: int,
        kind: KeyKind = KeyKind.PRODUCER,
        pinned: Mapping[str, Pinned] | None = None,
    ) -> KeyTaken:
        answer = self._table.update(
            _key(tenant, key, kind),
            Update(
                set={
                    "job_id": job_id,
                    "body_hash": body_hash,
                    "created_at_ms": now_ms,
                    "pinned": pinned and {name: _pin(p) for name, p in pinned.items()},
                    TTL: (now_ms + kind.life_ms) // 1000,
                },
                condition="attribute_not_exists(#PK) OR #created_at_ms <= :expired",
                values={"expired": now_ms - kind.life_ms},
            ),
        )
        item = answer.item if isinstance(answer, Refusal) else answer
        if item is None:
            raise Unavailable(f"{key!r} expired while it was looked at")
        return _taken(item)


def _taken(item: Item) -> KeyTaken:
    pinned = item.get("pinned")
    return KeyTaken(
        job_id=item["job_id"],
        body_hash=item["body_hash"],
        created_at_ms=item["created_at_ms"],
        pinned=pinned and {name: Pinned(**pin) for name, pin in pinned.items()},
    )


def _pin(pinned: Pinned) -> Item:
    return {"version": pinned.version, "max_attempts": pinned.max_attempts}


_PREFIXES: Final = {KeyKind.PRODUCER: "KEY", KeyKind.TRIGGER: "TRIGGERKEY"}
"""No producer's key has a #, so none of them is a trigger's."""


def _key(tenant: str, key: str, kind: KeyKind) -> Key:
    return f"TENANT#{tenant}#{_PREFIXES[kind]}#{key}", "KEY"
