"""Many new items of one partition, which takes a thousand write units a second and no more."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from switchyard.adapters.dynamodb.values import Item
from switchyard.adapters.pauses import Pauses
from switchyard.domain.errors import Unavailable
from switchyard.ports import Workforce

WRITES_PER_TRANSACTION: Final = 100  # TransactWriteItems' limit
UNITS_PER_TRANSACTION: Final = 400  # a partition's second has room for two of them
UNITS_PER_KILOBYTE: Final = 2  # in a transaction
WRITERS: Final = 2  # one writes while the other waits; more of them only throttle each other

Attempt = Callable[[Sequence[Item]], Sequence[Item]]
"""Writes these together, once; what it returns has to be tried again."""


@dataclass(frozen=True, kw_only=True)
class ManyWrites:
    attempt: Attempt
    pauses: Pauses
    workforce: Workforce

    def write(self, items: Sequence[Item], *, seconds: float) -> None:
        """Try everything at least once, and for so long what is throttled. Raise `Unavailable`."""
        until = self.pauses.monotonic() + seconds
        transactions = list(in_transactions(items))
        left = iter(transactions)

        def work(_writer: int) -> None:
            for transaction in left:
                self._write(transaction, until)

        self.workforce.each(work, range(min(WRITERS, len(transactions))))

    def _write(self, items: Sequence[Item], until: float) -> None:
        for _ in self.pauses.tries_until(until):
            items = self.attempt(items)
            if not items:
                return
        raise Unavailable(f"DynamoDB left {len(items)} items unwritten")


def in_transactions(items: Sequence[Item]) -> Iterator[list[Item]]:
    """One that asks for more than a second's worth at once might never be let through."""
    together: list[Item] = []
    units = 0
    for item in items:
        cost = _units(item)
        full = len(together) == WRITES_PER_TRANSACTION or units + cost > UNITS_PER_TRANSACTION
        if together and full:
            yield together
            together, units = [], 0
        together.append(item)
        units += cost
    if together:
        yield together


def _units(item: Item) -> int:
    """At most: its text is longer than what is stored."""
    return UNITS_PER_KILOBYTE * (len(str(item).encode()) // 1024 + 1)
