"""The real clock, sleep, randomness, ids and threads: the only place that touches them."""

import random
import secrets
import time
import uuid
from collections.abc import Callable
from threading import Barrier
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class SystemClock:
    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


async def system_sleep(seconds: float) -> None:
    from asyncio import sleep  # noqa: PLC0415 - commands that never wait start without it

    await sleep(seconds)


class SystemIds:
    def new_job_id(self) -> str:
        return f"job-{uuid.uuid4()}"

    def new_worker_id(self) -> str:
        return f"worker-{uuid.uuid4().hex[:12]}"

    def new_secret(self) -> str:
        return secrets.token_urlsafe(32)


class SystemRandomness:
    def between(self, low: float, high: float) -> float:
        return random.uniform(low, high)  # noqa: S311 - spreads retries, guards nothing


class ThreadOffload:
    """Runs a port's blocking call on a thread, so that the event loop never waits for it."""

    def __init__(self, *, threads: int) -> None:
        """Start all threads. Raise `RuntimeError` if the machine has too few left.

        A pool that starts them when they are needed takes a call before it finds that there is no
        thread for it: the caller would hear of a failure, and another thread make the call later.
        """
        from concurrent.futures import ThreadPoolExecutor, wait  # noqa: PLC0415 - as above

        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="port")
        all_started = Barrier(threads)
        try:
            wait([self._pool.submit(all_started.wait) for _ in range(threads)])
        except RuntimeError:
            all_started.abort()
            raise

    async def __call__(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        from asyncio import get_running_loop  # noqa: PLC0415 - as above

        loop = get_running_loop()
        return await loop.run_in_executor(self._pool, lambda: call(*args, **kwargs))

    def close(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)
