"""One table and its indexes, in wire form."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.simulation.cloud.expressions import Item

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Change:
    """A write that took effect; `number` orders a table's writes."""

    table: str
    key: Key
    number: int
    old: Item | None
    new: Item


@dataclass(slots=True)
class Index:
    """A copy that follows the table, per item in order, and late."""

    name: str
    partition: str
    sort: str
    attributes: frozenset[str] | None
    """What it projects besides its keys; `None` for everything."""
    entries: dict[Key, Item] = field(default_factory=dict)
    _seen: dict[Key, int] = field(default_factory=dict)

    def follow(self, change: Change) -> None:
        if change.number <= self._seen.get(change.key, 0):
            return
        self._seen[change.key] = change.number
        if self.partition in change.new and self.sort in change.new:
            self.entries[change.key] = self._projected(change.new)
        else:
            self.entries.pop(change.key, None)

    def _projected(self, item: Item) -> Item:
        if self.attributes is None:
            return item
        return {name: value for name, value in item.items() if name in self.attributes}


class Table:
    def __init__(self, name: str, indexes: Iterable[Index]) -> None:
        self.name = name
        self.indexes = {index.name: index for index in indexes}
        self._items: dict[Key, Item] = {}
        self._before: dict[Key, Item | None] = {}
        self._writes = 0

    def get(self, key: Item) -> Item | None:
        return self._items.get(_plain(key))

    def stale(self, key: Item) -> Item | None:
        """Return the item as it was before it was last written."""
        return self._before.get(_plain(key), self.get(key))

    def all(self) -> list[Item]:
        return list(self._items.values())

    def view(self, index: Index | None) -> list[Item]:
        return list(index.entries.values()) if index else self.all()

    def write(self, key: Item, item: Item) -> Change:
        """Write an item; an empty one is deleted."""
        self._writes += 1
        change = Change(self.name, _plain(key), self._writes, self.get(key), item)
        self._before[change.key] = change.old
        if item:
            self._items[change.key] = item
        else:
            self._items.pop(change.key, None)
        return change


def _plain(key: Item) -> Key:
    return key["PK"]["S"], key["SK"]["S"]
