"""The brake, as one item of the state table that every worker reads now and then."""

from typing import Final

from switchyard.adapters.dynamodb.table import DynamoDbTable, Key, Refusal, Update
from switchyard.adapters.dynamodb.values import Item
from switchyard.contracts.tables import CONSUMPTION_PARTITION
from switchyard.domain.health.consumption import Pause

_KEY: Final[Key] = (CONSUMPTION_PARTITION, "CONSUMPTION")


class DynamoDbConsumption:
    def __init__(self, table: DynamoDbTable) -> None:
        self._table = table

    def pause(self, *, now_ms: int, reason: str | None = None) -> Pause:
        told = {"reason": reason} if reason else {}
        answer = self._table.update(
            _KEY,
            Update(
                set={"paused_at_ms": now_ms, **told},
                condition="attribute_not_exists(#paused_at_ms)",
            ),
        )
        item = answer.item if isinstance(answer, Refusal) else answer
        return _pause(item) or Pause(since_ms=now_ms, reason=reason)

    def resume(self) -> None:
        self._table.update(
            _KEY,
            Update(remove=("paused_at_ms", "reason"), condition="attribute_exists(#paused_at_ms)"),
        )

    def paused(self) -> Pause | None:
        return _pause(self._table.get(_KEY))


def _pause(item: Item | None) -> Pause | None:
    if item is None or "paused_at_ms" not in item:
        return None
    return Pause(since_ms=item["paused_at_ms"], reason=item.get("reason"))
