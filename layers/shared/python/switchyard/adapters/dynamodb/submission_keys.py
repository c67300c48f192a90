"""Idempotency keys in the state table, which forgets them by itself, sooner or later."""

from switchyard.adapters.dynamodb.table import DynamoDbTable, Key, Refusal, Update
from switchyard.contracts.tables import TTL
from switchyard.domain.errors import Unavailable
from switchyard.domain.submission_keys import KEY_LIFE_MS
from switchyard.ports import KeyTaken


class DynamoDbSubmissionKeys:
    def __init__(self, table: DynamoDbTable) -> None:
        self._table = table

    def take(self, tenant: str, key: str, *, job_id: str, body_hash: str, now_ms: int) -> KeyTaken:
        answer = self._table.update(
            _key(tenant, key),
            Update(
                set={
                    "job_id": job_id,
                    "body_hash": body_hash,
                    "created_at_ms": now_ms,
                    TTL: (now_ms + KEY_LIFE_MS) // 1000,
                },
                condition="attribute_not_exists(#PK) OR #created_at_ms <= :expired",
                values={"expired": now_ms - KEY_LIFE_MS},
            ),
        )
        item = answer.item if isinstance(answer, Refusal) else answer
        if item is None:
            raise Unavailable(f"{key!r} expired while it was looked at")
        return KeyTaken(
            job_id=item["job_id"],
            body_hash=item["body_hash"],
            created_at_ms=item["created_at_ms"],
        )


def _key(tenant: str, key: str) -> Key:
    return f"TENANT#{tenant}#KEY#{key}", "KEY"
