"""Many writes to one partition, which takes a thousand write units a second and no more."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from switchyard.adapters.dynamodb.values import Item
from switchyard.adapters.pauses import Pauses
from switchyard.domain.errors import Unavailable
from switchyard.domain.text import in_slices
from switchyard.ports import Parallel

WRITES_PER_TRANSACTION: Final = 100  # TransactWriteItems' limit
UNITS_PER_TRANSACTION: Final = 400  # a partition's second has room for two of them
UNITS_PER_KILOBYTE: Final = 2  # in a transaction
ROUNDS: Final = 5
WRITERS: Final = 2  # one writes while the other waits; more of them only throttle each other

Attempt = Callable[[Sequence[Item]], Sequence[Item]]
"""Writes these entries together, once; returns those that have to be tried again."""


Transaction = Callable[[Sequence[Item]], Sequence[bool]]
"""Writes these entries together, once: returns nothing if all were written, else of each whether
its condition failed. Raises `Contended`."""


class Contended(Unavailable):
    """A transaction met another, or was throttled: it will pass."""


def patiently(transact: Callable[[], bool], pauses: Pauses) -> bool:
    """Try a transaction again that met another one."""
    for _ in pauses.tries(ROUNDS):
        with suppress(Contended):
            return transact()
    raise Unavailable("DynamoDB left a transaction unwritten: its items are contended")


@dataclass(frozen=True, kw_only=True)
class ManyWrites:
    attempt: Attempt
    pauses: Pauses
    parallel: Parallel

    def write(self, items: Sequence[Item], *, seconds: float) -> None:
        """Try everything at least once, and for so long what is throttled. Raise `Unavailable`."""
        until = self.pauses.monotonic() + seconds
        transactions = list(in_transactions(items))
        left = iter(transactions)

        def work(_writer: int) -> None:
            for transaction in left:
                self._write(transaction, until)

        self.parallel.each(work, range(min(WRITERS, len(transactions))))

    def _write(self, items: Sequence[Item], until: float) -> None:
        for _ in self.pauses.tries_until(until):
            items = self.attempt(items)
            if not items:
                return
        raise Unavailable(f"DynamoDB left {len(items)} items unwritten")


@dataclass(frozen=True, kw_only=True)
class ManyUpdates:
    """Conditional writes that have nothing to do with each other, in transactions.

    One call instead of a hundred, at twice the write units; an entry is taken to be below 2 KB.
    https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html
    """

    attempt: Transaction
    pauses: Pauses
    parallel: Parallel

    def write(self, entries: Sequence[Item]) -> list[bool]:
        """Say of each whether it was written: if not, its condition did not hold."""
        written = [False] * len(entries)
        left = iter(list(in_slices(list(enumerate(entries)), WRITES_PER_TRANSACTION)))

        def work(_writer: int) -> None:
            for transaction in left:
                for number in self._written(dict(transaction)):
                    written[number] = True

        self.parallel.each(work, range(WRITERS))
        return written

    def _written(self, entries: dict[int, Item]) -> Iterable[int]:
        """Write the entries; one whose condition does not hold is left out of the next try."""
        for _ in self.pauses.tries(ROUNDS):
            if not entries:
                return ()
            try:
                refused = self.attempt(list(entries.values()))
            except Contended:
                continue
            if not refused:
                return entries
            stored = [number for number, no in zip(entries, refused, strict=True) if not no]
            entries = {number: entries[number] for number in stored}
        raise Unavailable(f"DynamoDB left {len(entries)} items unwritten")


def in_transactions(items: Sequence[Item]) -> Iterator[list[Item]]:
    """Group items into transactions of less than a second's capacity, which are not throttled."""
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
    """Return the most write units of the item: its text is longer than what is stored."""
    return UNITS_PER_KILOBYTE * (len(str(item).encode()) // 1024 + 1)
