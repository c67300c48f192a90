"""The tasks that wait for events of the bus."""

from collections.abc import Sequence
from typing import Protocol

from switchyard.domain.signals.subscriptions import Subscription


class SignalSubscriptions(Protocol):
    """Finds the tasks of a tenant that an event may end, by its source and its type."""

    def put(self, subscription: Subscription) -> None:
        """Store it for each of its kinds of events. Storing it again changes nothing.

        It expires some time after `until_ms`.
        """

    def page(
        self,
        tenant: str,
        source: str,
        detail_type: str,
        *,
        after: str | None = None,
        at_most: int,
    ) -> Sequence[Subscription]:
        """Return those of one kind of event by name, from the first one behind `after` on."""

    def remove(self, subscription: Subscription) -> None:
        """Remove it from each of its kinds of events, whether it is there or not."""
