"""What operators changed of the pools' subscriptions: one item for each changed pool."""

from collections.abc import Mapping
from typing import Final

from switchyard.adapters.dynamodb.table import DynamoDbTable, FailedCondition, Key, Update
from switchyard.adapters.dynamodb.values import Item
from switchyard.contracts.tables import POOLS_PARTITION
from switchyard.domain.errors import Unavailable
from switchyard.domain.scheduling.pools import ChangedWeights

_PREFIX: Final = "POOL#"
TRIES: Final = 5


class DynamoDbSubscriptionStore:
    def __init__(self, table: DynamoDbTable) -> None:
        self._table = table

    def all(self) -> Mapping[str, ChangedWeights]:
        found = self._table.query("#PK = :pools", {"pools": POOLS_PARTITION})
        return {item["SK"].removeprefix(_PREFIX): _weights(item) for item in found}

    def change(self, pool: str, group: str, weight: int) -> ChangedWeights:
        key = (POOLS_PARTITION, f"{_PREFIX}{pool}")
        found = self._table.get(key)
        for _ in range(TRIES):
            answer = self._write(key, found, dict(_weights(found)) | {group: weight})
            if not isinstance(answer, FailedCondition):
                return _weights(answer)
            found = answer.item
        raise Unavailable(f"the subscriptions of the pool {pool} are being changed by others")

    def _write(
        self, key: Key, found: Item | None, weights: ChangedWeights
    ) -> Item | FailedCondition:
        version: int = found["version"] if found else 0
        return self._table.update(
            key,
            Update(
                set={"weights": weights, "version": version + 1},
                condition="#version = :read" if found else "attribute_not_exists(#version)",
                values={"read": version} if found else {},
            ),
        )


def _weights(item: Item | None) -> ChangedWeights:
    return {} if item is None else {group: int(n) for group, n in item["weights"].items()}
