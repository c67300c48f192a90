"""Tries a port's call again through a short outage."""

from collections.abc import Callable
from typing import Final, ParamSpec, TypeVar

from switchyard.bootstrap import WorkerPorts
from switchyard.domain.errors import LeaseLost, Unavailable
from worker.waiting import Pauses

P = ParamSpec("P")
R = TypeVar("R")

TRIES: Final = 5


async def patiently(
    ports: WorkerPorts, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs
) -> R:
    """Every call of ours may be repeated; only a lost lease is not worth another try."""
    pauses = Pauses(ports.randomness)
    for _ in range(TRIES - 1):
        try:
            return await ports.offload(call, *args, **kwargs)
        except LeaseLost:
            raise
        except Unavailable:
            await ports.sleep(pauses.next_seconds())
    return await ports.offload(call, *args, **kwargs)
