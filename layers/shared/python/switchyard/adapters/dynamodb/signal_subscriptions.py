"""Tasks that wait for events, in the state table: an item for each kind of event."""

import json
from collections.abc import Sequence
from typing import Final

from switchyard.adapters.dynamodb.table import DynamoDbTable, Key, key_item
from switchyard.adapters.dynamodb.values import Item, deserialized
from switchyard.contracts.tables import TTL, signals_partition
from switchyard.domain.ids import JobRef
from switchyard.domain.signals.subscriptions import Subscription, digest_of, event_filter

_KEPT_FOR_SECONDS: Final = 24 * 60 * 60
"""The time that an ended subscription stays in the table; it is not looked for any more."""


class DynamoDbSignalSubscriptions:
    def __init__(self, table: DynamoDbTable) -> None:
        self._table = table

    def put(self, subscription: Subscription) -> None:
        for key in _keys(subscription):
            self._table.put_new({**key_item(key), **_content(subscription)})

    def page(
        self,
        tenant: str,
        source: str,
        detail_type: str,
        *,
        after: str | None = None,
        at_most: int,
    ) -> Sequence[Subscription]:
        partition = signals_partition(tenant, digest_of(source, detail_type))
        values = {"partition": partition, "after": after or " "}
        pages = self._table.pages(
            "#PK = :partition AND #SK > :after", values, Limit=at_most, ScanIndexForward=True
        )
        items = next(pages)["Items"]
        return [_subscription(tenant, deserialized(item)) for item in items]

    def remove(self, subscription: Subscription) -> None:
        for key in _keys(subscription):
            self._table.delete(key)


def _keys(subscription: Subscription) -> list[Key]:
    tenant = subscription.ref.tenant
    return [
        (signals_partition(tenant, digest_of(*kind)), subscription.name)
        for kind in subscription.filter.kinds
    ]


def _content(subscription: Subscription) -> Item:
    return {
        "job_id": subscription.ref.job_id,
        "task_id": subscription.ref.task_id,
        "run": subscription.run,
        "event": json.dumps(subscription.filter.stored()),
        "since_ms": subscription.since_ms,
        "until_ms": subscription.until_ms,
        TTL: subscription.until_ms // 1000 + _KEPT_FOR_SECONDS,
    }


def _subscription(tenant: str, item: Item) -> Subscription:
    return Subscription(
        ref=JobRef(tenant, item["job_id"]).task(item["task_id"]),
        run=item["run"],
        filter=event_filter(json.loads(item["event"])),
        since_ms=item["since_ms"],
        until_ms=item["until_ms"],
    )
