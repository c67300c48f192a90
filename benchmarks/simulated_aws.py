"""Clients of an AWS in memory that count and weigh what is asked of them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from benchmarks.meter import Clients, CountedClient, Meter
from tests.fakes.dynamodb.write_units import MeteredDynamoDb
from tests.simulation.cloud.dynamodb import DynamoDb
from tests.simulation.cloud.eventbridge import BusFaults, EventBridge
from tests.simulation.cloud.s3 import S3
from tests.simulation.cloud.sqs import Sqs
from tests.simulation.kernel.world import World

ITEMS_PER_PAGE: Final = 2_000  # a page of a query has 1 MB, an item of a job about half a kilobyte


class DescribedDynamoDb(DynamoDb):
    """Reports how its tables were made, which the meter of write units asks for."""

    def __init__(self) -> None:
        super().__init__(items_per_page=ITEMS_PER_PAGE)
        self._made: dict[str, dict[str, Any]] = {}

    def create_table(self, **request: Any) -> None:
        self._made[request["TableName"]] = request
        super().create_table(**request)

    def describe_table(self, **request: Any) -> dict[str, Any]:
        return {"Table": self._made[request["TableName"]]}


@contextmanager
def simulated_aws(meter: Meter) -> Iterator[Clients]:
    world = World(seed=0)
    dynamodb = DescribedDynamoDb()
    dynamodb.on_change.append(lambda change: meter.writes.update([change.key]))
    services = {
        "dynamodb": CountedClient(dynamodb, meter, weighed=MeteredDynamoDb(dynamodb)),
        "events": CountedClient(EventBridge(world, [], BusFaults()), meter),
        "s3": CountedClient(S3(), meter),
        "sqs": CountedClient(Sqs({}, world), meter),
    }
    try:
        yield services.__getitem__
    finally:
        world.end()
