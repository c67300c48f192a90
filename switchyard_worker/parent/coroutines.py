"""Waits for several coroutines, and tries a port's call again through a short outage."""

import asyncio
from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping
from dataclasses import dataclass
from types import coroutine
from typing import Any, Final, ParamSpec, TypeVar

from switchyard.bootstrap import Offload
from switchyard.domain.errors import LeaseLost, Unavailable
from switchyard.ports import Clock, Randomness, Sleep

K = TypeVar("K")
P = ParamSpec("P")
R = TypeVar("R")

FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 30.0
TRIES: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """The clock, sleep, threads and randomness that a worker uses."""

    clock: Clock
    sleep: Sleep
    offload: Offload
    randomness: Randomness


async def first_of(waits: Mapping[K, Awaitable[Any]]) -> K:
    """Return the name of the wait that ends first; of several at once, the one named first.

    Where others have cancelled what is waited for, the caller is cancelled as well.
    """
    tasks = {name: asyncio.ensure_future(wait) for name, wait in waits.items()}
    try:
        await asyncio.wait(tasks.values(), return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks.values():
            task.cancel()
        await asyncio.gather(*tasks.values(), return_exceptions=True)
    ended = [name for name, task in tasks.items() if not task.cancelled()]
    if not ended:
        raise asyncio.CancelledError
    tasks[ended[0]].result()
    return ended[0]


async def all_of(waits: Iterable[Awaitable[R]]) -> list[R]:
    """Return all results; the first failure ends the other waits."""
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class GrowingPauses:
    """Computes pauses after failures in a row: exponential, with full jitter."""

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
    """Let everything else that is due in the event loop run first."""
    yield


async def with_retries(
    runtime: Runtime, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs
) -> R:
    """Call a port, again if it is unavailable; a lost lease is not worth another try.

    Every call of ours may be repeated.
    """
    pauses = GrowingPauses(runtime.randomness)
    for _ in range(TRIES - 1):
        try:
            return await runtime.offload(call, *args, **kwargs)
        except LeaseLost:
            raise
        except Unavailable:
            await runtime.sleep(pauses.next_seconds())
    return await runtime.offload(call, *args, **kwargs)
