"""Tasks that wait for events, in memory."""

import threading
from collections.abc import Sequence

from switchyard.domain.signals.subscriptions import Subscription


class MemorySignalSubscriptions:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stored: dict[tuple[str, str, str, str], Subscription] = {}

    def put(self, subscription: Subscription) -> None:
        with self._lock:
            for source, detail_type in subscription.filter.kinds:
                key = (subscription.ref.tenant, source, detail_type, subscription.name)
                self._stored.setdefault(key, subscription)

    def page(
        self,
        tenant: str,
        source: str,
        detail_type: str,
        *,
        after: str | None = None,
        at_most: int,
    ) -> Sequence[Subscription]:
        with self._lock:
            named = {
                key[3]: found
                for key, found in self._stored.items()
                if key[:3] == (tenant, source, detail_type) and key[3] > (after or "")
            }
        return [named[name] for name in sorted(named)][:at_most]

    def remove(self, subscription: Subscription) -> None:
        with self._lock:
            for source, detail_type in subscription.filter.kinds:
                key = (subscription.ref.tenant, source, detail_type, subscription.name)
                self._stored.pop(key, None)
