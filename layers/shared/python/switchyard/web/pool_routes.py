"""The route of the API that lists the pools of workers."""

from collections.abc import Callable

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver

from switchyard.contracts.overview import PoolList
from switchyard.usecases.scheduling.list_pools import list_pools
from switchyard.usecases.scheduling.pool_directory import PoolDirectory


def add_pool_routes(app: APIGatewayHttpResolver, pools: Callable[[], PoolDirectory]) -> None:
    @app.get("/pools")
    def get_pools() -> PoolList:
        return list_pools(pools())
