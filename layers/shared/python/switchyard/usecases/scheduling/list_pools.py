"""Lists pools for tenants: names and groups, and nothing of what others run."""

from switchyard.contracts.overview import PoolList, PoolServing
from switchyard.usecases.scheduling.pool_directory import PoolDirectory


def list_pools(directory: PoolDirectory) -> PoolList:
    """Return the pools in the order of the stage table. Raise `Unavailable`."""
    return PoolList(
        pools=tuple(
            PoolServing(
                name=deployed.name,
                kind=deployed.pool.kind,
                groups=tuple(one.group for one in directory.subscriptions(deployed.name)),
            )
            for deployed in directory.pools
        ),
        served=tuple(sorted(directory.groups())),
    )
