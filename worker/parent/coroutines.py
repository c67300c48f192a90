"""Waits for several coroutines, and tries a port's call again through a short outage."""

import asyncio
from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping
from types import coroutine
from typing import Any, Final, ParamSpec, TypeVar

from switchyard.bootstrap import WorkerPorts
from switchyard.domain.errors import LeaseLost, Unavailable
from switchyard.ports import Randomness

K = TypeVar("K")
P = ParamSpec("P")
R = TypeVar("R")

FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 30.0
TRIES: Final = 5


async def first_of(waits: Mapping[K, Awaitable[Any]]) -> K:
    """The name of whichever ends first; of several at once, the one named first."""
    tasks = {name: asyncio.ensure_future(wait) for name, wait in waits.items()}
    try:
        await asyncio.wait(tasks.values(), return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks.values():
            task.cancel()
        await asyncio.gather(*tasks.values(), return_exceptions=True)
    ended = next(name for name, task in tasks.items() if not task.cancelled())
    tasks[ended].result()
    return ended


async def all_of(waits: Iterable[Awaitable[R]]) -> list[R]:
    """Every result; the first failure ends the others."""
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class Pauses:
    """How long to wait after each failure in a row: exponential, with full jitter."""

    def __init__(
        self, randomness: Randomness, *, longest_seconds: float = LONGEST_PAUSE_SECONDS
    ) -> None:
        self._randomness = randomness
        self._longest_seconds = longest_seconds
        self._failures = 0

    def next_seconds(self) -> float:
        longest = min(FIRST_PAUSE_SECONDS * 2**self._failures, self._longest_seconds)
        self._failures += 1
        return self._randomness.between(0, longest)

    def reset(self) -> None:
        self._failures = 0


@coroutine
def others_first() -> Generator[None, None, None]:
    """Lets whatever else is due in the loop run before one goes on."""
    yield


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
