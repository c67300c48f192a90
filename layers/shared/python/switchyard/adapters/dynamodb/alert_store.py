"""Stores alerts in the state table: one partition, one item for each subject and channel."""

from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from itertools import islice
from typing import Any, Final

from switchyard.adapters.dynamodb.table import DynamoDbTable, FailedCondition, Key, Update
from switchyard.adapters.dynamodb.values import Item
from switchyard.contracts.tables import ALERTS_PARTITION, DUE_AT, DUE_INDEX, DUE_SHARD, TTL
from switchyard.domain.alerts.alerts import Alert
from switchyard.domain.ids import DUE_SHARDS

ALERTS_SHARD: Final = DUE_SHARDS
"""The shard of the due index that alerts have to themselves, beyond those of tasks and jobs."""
_FIELDS: Final = frozenset(field.name for field in fields(Alert)) - {"key"}


class DynamoDbAlertStore:
    def __init__(self, table: DynamoDbTable) -> None:
        self._table = table

    def find(self, key: str) -> Alert | None:
        item = self._table.get(_key(key))
        return _alert(item) if item else None

    def lease(self, known: Alert, *, now_ms: int) -> Alert | None:
        leased = known.leased(now_ms=now_ms)
        return leased if self._refusal(leased, *_as_read(known)) is None else None

    def save(self, alert: Alert) -> bool:
        fence = {"fence": alert.fence}
        unasked = "#fence = :fence AND #asks = :asks"
        refused = self._refusal(alert, unasked, {**fence, "asks": alert.asks})
        if refused is None:
            return True
        if refused.item is None or refused.item["fence"] != alert.fence:
            return False
        due_at_ms = refused.item[DUE_AT]
        asked = replace(alert, asks=refused.item["asks"], due_at_ms=due_at_ms)
        return self._refusal(asked, "#fence = :fence", fence) is None

    def request_update(self, key: str, *, now_ms: int) -> None:
        self._table.update(
            _key(key),
            Update(
                set={DUE_AT: now_ms, DUE_SHARD: ALERTS_SHARD},
                add={"asks": 1},
                condition="attribute_exists(#PK)",
            ),
        )

    def due(self, *, now_ms: int, limit: int) -> Sequence[str]:
        found = self._table.query(
            f"#{DUE_SHARD} = :shard AND #{DUE_AT} <= :now",
            {"shard": ALERTS_SHARD, "now": now_ms},
            IndexName=DUE_INDEX,
            Limit=limit,
        )
        return [item["SK"] for item in islice(found, limit)]

    def _refusal(self, alert: Alert, condition: str, values: Item) -> FailedCondition | None:
        attributes = _attributes(alert)
        answer = self._table.update(
            _key(alert.key),
            Update(
                set={name: value for name, value in attributes.items() if value is not None},
                remove=[name for name, value in attributes.items() if value is None],
                condition=condition,
                values=values,
            ),
        )
        return answer if isinstance(answer, FailedCondition) else None


def _as_read(known: Alert) -> tuple[str, Item]:
    """The condition that the alert was not leased since it was read."""
    if not known.fence:
        return "attribute_not_exists(#PK)", {}
    return "#fence = :fence", {"fence": known.fence}


def _key(key: str) -> Key:
    return ALERTS_PARTITION, key


def _attributes(alert: Alert) -> dict[str, Any]:
    values = {name: value for name, value in asdict(alert).items() if name in _FIELDS}
    forget_at_ms = alert.forget_at_ms
    return values | {
        "pages": list(alert.pages),
        DUE_SHARD: None if alert.due_at_ms is None else ALERTS_SHARD,
        TTL: None if forget_at_ms is None else forget_at_ms // 1000,
    }


def _alert(item: Item) -> Alert:
    values = {name: value for name, value in item.items() if name in _FIELDS}
    return Alert(**values | {"key": item["SK"], "pages": tuple(item["pages"])})
