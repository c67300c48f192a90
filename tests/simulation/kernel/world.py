"""The world of a simulation: its time, its dice, its trace and everything that lives in it."""

import asyncio
import itertools
import math
import random
from collections.abc import Callable, Coroutine
from typing import Any

import greenlet

from tests.simulation.kernel.loop import VirtualLoop
from tests.simulation.kernel.trace import Trace

EPOCH_MS = 1_800_000_000_000
MOST_LINES = 50_000
"""Twenty times what a harness in a storm takes."""


class Runaway(Exception):
    """Something keeps causing itself."""


class World:
    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self._date_dice = random.Random(f"dates of {seed}")
        """Apart, so that the dates of answers change nothing else that happens."""
        self._orphan_dice = random.Random(f"orphans of {seed}")
        self.loop = VirtualLoop()
        self.trace = Trace()
        self.hub = greenlet.getcurrent()
        """Where the event loop runs; whoever waits gives control back to it."""
        self.fibres: set[greenlet.greenlet] = set()
        self.tasks: list[asyncio.Task[None]] = []
        """Kept, so that what a dead node was doing is not collected as garbage before the end."""
        self.ended = False
        self.acting = "nobody"
        """The node whose request takes effect right now."""
        self._numbers: dict[str, itertools.count[int]] = {}

    @property
    def now(self) -> float:
        return self.loop.time()

    @property
    def now_ms(self) -> int:
        return EPOCH_MS + round(self.now * 1000)

    @property
    def seconds(self) -> float:
        """The real time."""
        return EPOCH_MS / 1000 + self.now

    def date_header(self) -> int:
        """What a server writes into its answer: a whole second, up to a second old."""
        return math.floor(self.seconds - self._date_dice.random())

    def orphaned_seconds(self, at_most: float) -> float:
        """Draw how long a child outlives its worker."""
        return self._orphan_dice.uniform(0, at_most)

    def number(self, kind: str) -> int:
        return next(self._numbers.setdefault(kind, itertools.count(1)))

    def chance(self, probability: float) -> bool:
        return probability > 0 and self.dice.random() < probability

    def report(self, who: str, what: str) -> None:
        self.trace.add(self.now, who, what)
        if len(self.trace.lines) > MOST_LINES:
            self.loop.stop()

    def after(self, seconds: float, call: Callable[..., Any], *args: Any) -> None:
        if not self.ended:
            self.loop.call_later(seconds, call, *args)

    def start(self, running: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        task = self.loop.create_task(running)
        self.tasks.append(task)
        return task

    def run_until(self, done: Callable[[], bool], *, look_every: float, at_most: float) -> None:
        """Let time pass until `done`, or until `at_most` seconds have passed."""
        watching = self.start(self._watch(done, look_every, self.now + at_most))
        watching.add_done_callback(lambda _done: self.loop.stop())
        self.loop.run_forever()
        if not watching.done():
            raise Runaway(f"more than {MOST_LINES:,} things happened: {self.trace.lines[-1]}")
        watching.result()

    def end(self) -> None:
        """Unwind whatever still waits; nothing it does from now on has an effect."""
        self.ended = True
        for fibre in sorted(self.fibres, key=id):
            fibre.throw()
        while tasks := asyncio.all_tasks(self.loop):
            for task in tasks:
                task.cancel()
            self.loop.run_until_complete(asyncio.wait(tasks, timeout=1))
        self.loop.close()

    async def _watch(self, done: Callable[[], bool], look_every: float, until: float) -> None:
        while not done() and self.now < until:
            moment = self.loop.create_future()
            self.after(look_every, moment.set_result, None)
            await moment


class WorldClock:
    """The world's time for code outside of it: to sleep is to let the world run."""

    def __init__(self, world: World) -> None:
        self._world = world

    def now_ms(self) -> int:
        return self._world.now_ms

    def monotonic(self) -> float:
        return self._world.now

    def sleep(self, seconds: float) -> None:
        self._world.run_until(lambda: False, look_every=seconds, at_most=seconds)
