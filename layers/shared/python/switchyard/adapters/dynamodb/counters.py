"""Counters in the state table: for each minute an item, and one for each definition that spent.

Apart, because a write pays for the whole of its item, however little of it changes.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from botocore.exceptions import ClientError

from switchyard.adapters.dynamodb.table import (
    WHATEVER_IS_THERE,
    DynamoDbTable,
    FailedCondition,
    Key,
    Update,
)
from switchyard.adapters.dynamodb.values import Item
from switchyard.contracts.tables import COUNTS_PARTITIONS, TTL
from switchyard.domain.errors import Unavailable
from switchyard.domain.measuring.counts import COUNTED, SPENT, Counts, Spending
from switchyard.domain.moments import day_of, end_of_day_ms

_KEPT_FOR_SECONDS: Final = 2 * 24 * 60 * 60
_PUBLISHED: Final[Key] = (f"{COUNTS_PARTITIONS}PUBLISHED", "PUBLISHED")


class DynamoDbCounters:
    def __init__(self, table: DynamoDbTable) -> None:
        self._table = table

    def add(self, minute_ms: int, counts: Counts) -> None:
        try:
            self._add(_key(minute_ms), counts, COUNTED, minute_ms)
            for name, spent in counts.by_definition.items():
                self._add(_key(minute_ms, name), spent, SPENT, minute_ms)
        except ClientError as error:
            raise Unavailable(str(error)) from error

    def between(self, from_ms: int, to_ms: int) -> Mapping[int, Counts]:
        found: dict[int, Counts] = {}
        for day in _days(from_ms, to_ms):
            for item in self._table.query(
                "#PK = :day AND #SK BETWEEN :low AND :high",
                {"day": f"{COUNTS_PARTITIONS}{day}", "low": _place(from_ms), "high": _last(to_ms)},
            ):
                minute_ms, counts = _loaded(item)
                found[minute_ms] = found.get(minute_ms, Counts()) + counts
        return found

    def _add(
        self, key: Key, counted: Counts | Spending, names: Sequence[str], minute_ms: int
    ) -> None:
        more = {name: getattr(counted, name) for name in names if getattr(counted, name)}
        if more:
            until = {TTL: minute_ms // 1000 + _KEPT_FOR_SECONDS}
            self._table.update(key, Update(add=more, set=until, condition=WHATEVER_IS_THERE))


class DynamoDbPublishedMinutes:
    def __init__(self, table: DynamoDbTable) -> None:
        self._table = table

    def take(self, *, until_ms: int, at_most_ms: int) -> int | None:
        earliest_ms = until_ms - at_most_ms
        item = self._table.get(_PUBLISHED)
        if item is None:
            first = Update(set={"until_ms": until_ms}, condition="attribute_not_exists(#until_ms)")
            return self._taken(first, earliest_ms)
        last_ms = item["until_ms"]
        if last_ms >= until_ms:
            return None
        following = Update(
            set={"until_ms": until_ms}, condition="#until_ms = :last", values={"last": last_ms}
        )
        return self._taken(following, max(last_ms, earliest_ms))

    def _taken(self, update: Update, from_ms: int) -> int | None:
        return (
            None if isinstance(self._table.update(_PUBLISHED, update), FailedCondition) else from_ms
        )


def _days(from_ms: int, to_ms: int) -> Iterator[str]:
    begins_ms = from_ms
    while begins_ms < to_ms:
        day = day_of(begins_ms)
        yield day
        begins_ms = end_of_day_ms(day)


def _loaded(item: Item) -> tuple[int, Counts]:
    minute, _, definition = item["SK"].partition("#")
    if not definition:
        return int(minute), Counts(**_known(item, COUNTED))
    spent = Spending(**_known(item, SPENT))
    return int(minute), Counts(by_definition={definition: spent})


def _known(item: Item, names: Sequence[str]) -> dict[str, Any]:
    return {name: item[name] for name in names if name in item}


def _key(minute_ms: int, definition: str | None = None) -> Key:
    place = _place(minute_ms)
    sort = place if definition is None else f"{place}#{definition}"
    return f"{COUNTS_PARTITIONS}{day_of(minute_ms)}", sort


def _place(minute_ms: int) -> str:
    return f"{minute_ms:013d}"


def _last(to_ms: int) -> str:
    """Return a sort key after all those of earlier minutes."""
    return f"{_place(to_ms - 1)}~"
