"""One partition that takes a number of write units a second and throttles the rest."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from botocore.exceptions import ClientError

from tests.fakes.dynamodb.write_units import BYTES_PER_UNIT, IN_A_TRANSACTION, size_of

UNITS_A_SECOND: Final = 1_000


class BusyPartition:
    """A client of DynamoDB; nothing is left over from seconds in which nobody wrote."""

    def __init__(
        self, client: Any, monotonic: Callable[[], float], *, units: int = UNITS_A_SECOND
    ) -> None:
        self._client = client
        self._monotonic = monotonic
        self._full = units
        self._left: float = units
        self._looked_at = monotonic()
        self.throttled = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def transact_write_items(self, **request: Any) -> Any:
        entries = [next(iter(entry.values())) for entry in request["TransactItems"]]
        if not self._takes(sum(map(_units, entries))):
            self.throttled += 1
            response: Any = {
                "Error": {"Code": "TransactionCanceledException", "Message": "throttled"},
                "CancellationReasons": [{"Code": "ThrottlingError"}] * len(entries),
            }
            raise ClientError(response, "TransactWriteItems")
        return self._client.transact_write_items(**request)

    def _takes(self, units: int) -> bool:
        now = self._monotonic()
        self._left = min(self._full, self._left + (now - self._looked_at) * self._full)
        self._looked_at = now
        if self._left < units:
            return False
        self._left -= units
        return True


def _units(entry: Mapping[str, Any]) -> int:
    return IN_A_TRANSACTION * -(-size_of(entry.get("Item", entry.get("Key"))) // BYTES_PER_UNIT)
