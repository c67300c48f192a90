"""What DynamoDB charges for writes, by its published rules.

A write costs one unit per started kilobyte of the larger of the item before and after it, twice
that in a transaction, and as much again for every index entry that it puts, changes or deletes; an
entry whose key changes is deleted and put. A refused write costs as if it had been done to the
table, and nothing in the indexes.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Any, Final

from botocore.exceptions import ClientError

BYTES_PER_UNIT: Final = 1024
IN_A_TRANSACTION: Final = 2
CONTAINER_BYTES: Final = 3
ELEMENT_BYTES: Final = 1

Item = Mapping[str, Any]
"""In DynamoDB's own notation: `{"name": {"S": "value"}}`."""


def size_of(item: Item) -> int:
    return sum(len(name.encode()) + _size(value) for name, value in item.items())


def _size(value: Mapping[str, Any]) -> int:
    ((kind, content),) = value.items()
    match kind:
        case "S":
            return len(content.encode())
        case "N":
            return _number_size(content)
        case "B":
            return len(content)
        case "SS" | "NS" | "BS":
            return sum(_size({kind[0]: element}) for element in content)
        case "L":
            return CONTAINER_BYTES + sum(ELEMENT_BYTES + _size(element) for element in content)
        case "M":
            return CONTAINER_BYTES + ELEMENT_BYTES * len(content) + size_of(content)
    return 1  # true, false and null


def _number_size(text: str) -> int:
    """One byte for two digits, without the zeros at both ends, and one more."""
    number = Decimal(text).normalize().as_tuple()
    return (len(number.digits) + 1) // 2 + 1 + number.sign


def _units(*sizes: int) -> int:
    return max(1, -(-max(sizes) // BYTES_PER_UNIT))


@dataclass(frozen=True)
class _Index:
    keys: frozenset[str]
    projected: frozenset[str] | None
    """`None` for all."""

    def units(self, before: Item | None, after: Item | None) -> int:
        old, new = self._entry(before), self._entry(after)
        if old == new:
            return 0
        if old is None or new is None or self._key(old) == self._key(new):
            return _units(size_of(old or {}), size_of(new or {}))
        return _units(size_of(old)) + _units(size_of(new))

    def _entry(self, item: Item | None) -> Item | None:
        if item is None or not self.keys <= item.keys():
            return None
        return {n: v for n, v in item.items() if self.projected is None or n in self.projected}

    def _key(self, entry: Item) -> list[Any]:
        return [entry[name] for name in sorted(self.keys)]


@dataclass(frozen=True)
class _Write:
    table: str
    key: Item
    attempted: Item
    """What a put would store; empty for an update."""


class MeteredDynamoDb:
    """A client that adds up the write units of everything written through it."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._indexes = cache(self._described)
        self._lock = threading.Lock()  # nobody else writes between our two looks at an item
        self.units = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def cost_of(self, act: Callable[[], object]) -> int:
        before = self.units
        act()
        return self.units - before

    def put_item(self, **request: Any) -> Any:
        return self._metered([_put(request)], lambda: self._client.put_item(**request))

    def update_item(self, **request: Any) -> Any:
        return self._metered([_update(request)], lambda: self._client.update_item(**request))

    def delete_item(self, **request: Any) -> Any:
        return self._metered([_update(request)], lambda: self._client.delete_item(**request))

    def batch_write_item(self, **request: Any) -> Any:
        writes = [
            _put({"TableName": table, **entry["PutRequest"]})
            for table, entries in request["RequestItems"].items()
            for entry in entries
        ]
        return self._metered(writes, lambda: self._client.batch_write_item(**request))

    def transact_write_items(self, **request: Any) -> Any:
        writes = [
            _put(entry["Put"]) if "Put" in entry else _update(next(iter(entry.values())))
            for entry in request["TransactItems"]
        ]  # a check costs as much as an update
        return self._metered(
            writes,
            lambda: self._client.transact_write_items(**request),
            times=IN_A_TRANSACTION,
        )

    def _metered(self, writes: Sequence[_Write], act: Callable[[], Any], *, times: int = 1) -> Any:
        with self._lock:
            before = [self._stored(write) for write in writes]
            try:
                answer = act()
            except ClientError:
                for write, old in zip(writes, before, strict=True):
                    self.units += times * _units(size_of(old or {}), size_of(write.attempted))
                raise
            for write, old in zip(writes, before, strict=True):
                new = self._stored(write)
                self.units += times * _units(size_of(old or {}), size_of(new or {}))
                self.units += sum(index.units(old, new) for index in self._indexes(write.table))
            return answer

    def _stored(self, write: _Write) -> Item | None:
        answer = self._client.get_item(TableName=write.table, Key=write.key, ConsistentRead=True)
        found: Item | None = answer.get("Item")
        return found

    def _described(self, table: str) -> list[_Index]:
        described = self._client.describe_table(TableName=table)["Table"]
        of_table = frozenset(key["AttributeName"] for key in described["KeySchema"])
        return [_index(entry, of_table) for entry in described.get("GlobalSecondaryIndexes", [])]


def _index(described: Mapping[str, Any], keys_of_table: frozenset[str]) -> _Index:
    keys = frozenset(key["AttributeName"] for key in described["KeySchema"])
    projection = described["Projection"]
    if projection["ProjectionType"] == "ALL":
        return _Index(keys, None)
    return _Index(keys, keys | keys_of_table | set(projection.get("NonKeyAttributes", [])))


def _put(request: Mapping[str, Any]) -> _Write:
    item = request["Item"]
    return _Write(request["TableName"], {"PK": item["PK"], "SK": item["SK"]}, item)


def _update(request: Mapping[str, Any]) -> _Write:
    return _Write(request["TableName"], request["Key"], {})
