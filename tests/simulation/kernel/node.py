"""Something that runs code and may be killed or frozen: a worker, an invocation of a function.

Blocking code runs in a fibre of its own, coroutines run on the world's loop. Both wait here and
nowhere else, so that a dead node's next call never returns and a frozen node's returns late.
"""

import asyncio
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import greenlet

from tests.simulation.kernel.world import World

if TYPE_CHECKING:
    from switchyard.adapters.aws_time import AwsTime
    from switchyard.domain.health.clock_offset import ClockOffset

P = ParamSpec("P")
R = TypeVar("R")

Step = Callable[[], None]


class Node:
    def __init__(self, world: World, name: str, *, skew_ms: int = 0) -> None:
        self.world = world
        self.name = name
        self.alive = True
        self.frozen = False
        self.froze_at: list[float] = []
        self.sick: str | None = None
        """What its machine lacks, as a probe says."""
        self.on_death: list[Callable[[], None]] = []
        self.fate: dict[int, Callable[[], None]] = {}
        """What happens to it on its n-th way to or from a service, whatever the weather."""
        self.cut_off: dict[str, float] = {}
        """The services that it does not reach, and after how many seconds it is told so."""
        self._ways = 0
        self._skew_ms = skew_ms
        self.aws_time = self._estimate()
        """The real estimate, which the answers of the simulated services correct."""
        self._held_up: list[Step] = []

    # The SharedClock port.
    def now_ms(self) -> int:
        return round((self.aws_time.now() if self.aws_time else self._wall()) * 1000)

    def wall_offset(self) -> "ClockOffset | None":
        return self.aws_time.wall_offset() if self.aws_time else None

    def _estimate(self) -> "AwsTime | None":
        """The first release, whose workers the compatibility suite runs here, has none."""
        if find_spec("switchyard.adapters.aws_time") is None:
            return None
        from switchyard.adapters.aws_time import AwsTime  # noqa: PLC0415

        return AwsTime(ticks=self.monotonic, wall=self._wall)

    def monotonic(self) -> float:
        return self.world.now

    def sleep(self, seconds: float) -> None:
        """Called by blocking code, in a fibre."""
        self._check_alive()
        me = greenlet.getcurrent()
        self.world.after(max(seconds, 0.0), self._go_on, me.switch)
        self.world.hub.switch()
        self._check_alive()

    def wait_for(self, subscribe: Callable[[Step], None], *, at_most: float) -> None:
        """Blocking: until what was subscribed to happens, or `at_most` seconds have passed."""
        self._check_alive()
        me = greenlet.getcurrent()
        waiting = True

        def go_on() -> None:
            nonlocal waiting
            if waiting:
                waiting = False
                self._go_on(me.switch)

        subscribe(go_on)
        self.world.after(at_most, go_on)
        self.world.hub.switch()
        self._check_alive()

    # The Randomness port.
    def between(self, low: float, high: float) -> float:
        return self.world.dice.uniform(low, high)

    async def nap(self, seconds: float) -> None:
        """The Sleep port: for coroutines."""
        if not self.alive or self.world.ended:
            raise asyncio.CancelledError
        moment = self.world.loop.create_future()
        self.world.after(max(seconds, 0.0), self._go_on, lambda: _resolve(moment))
        await moment

    async def offload(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """The bridge from coroutines to blocking code."""
        if not self.alive or self.world.ended:
            raise asyncio.CancelledError
        return await self.start(lambda: call(*args, **kwargs))

    def start(self, call: Callable[[], R]) -> "asyncio.Future[R]":
        """Run blocking code in a fibre; its answer is the future's."""
        answer: asyncio.Future[R] = self.world.loop.create_future()

        def run() -> None:
            try:
                _resolve(answer, call())
            except greenlet.GreenletExit:
                pass
            except Exception as error:  # noqa: BLE001 - it belongs to whoever waits for the answer
                if not answer.done():
                    answer.set_exception(error)
            finally:
                self.world.fibres.discard(fibre)

        fibre = greenlet.greenlet(run, parent=self.world.hub)
        self.world.fibres.add(fibre)
        self.world.after(0, self._go_on, fibre.switch)
        return answer

    def meet_fate(self) -> None:
        self._ways += 1
        self.fate.get(self._ways, lambda: None)()

    def kill(self, why: str) -> None:
        if not self.alive:
            return
        self.alive = False
        self.world.report(self.name, f"KILLED {why}")
        for call in self.on_death:
            call()

    def freeze(self, seconds: float) -> None:
        if self.frozen or not self.alive:
            return
        self.frozen = True
        self.froze_at.append(self.world.now)
        self.world.report(self.name, f"FROZEN for {seconds:.1f} s")
        self.world.after(seconds, self._thaw)

    def fall_ill(self, seconds: float) -> None:
        """Let its disk be full for a while."""
        if self.sick or not self.alive:
            return
        self.sick = "no space left"
        self.world.report(self.name, f"SICK for {seconds:.1f} s")
        self.world.after(seconds, self._recover)

    def _recover(self) -> None:
        if self.alive:
            self.sick = None
            self.world.report(self.name, "WELL")

    def _thaw(self) -> None:
        if not self.alive:
            return
        self.frozen = False
        self.world.report(self.name, "RESUMED")
        held_up, self._held_up = self._held_up, []
        for step in held_up:
            self.world.after(0, self._go_on, step)

    def _wall(self) -> float:
        return self.world.seconds + self._skew_ms / 1000

    def _go_on(self, step: Step) -> None:
        if not self.alive or self.world.ended:
            return
        if self.frozen:
            self._held_up.append(step)
        else:
            step()

    def _check_alive(self) -> None:
        """Code that is being unwound does nothing more."""
        if not self.alive or self.world.ended:
            raise greenlet.GreenletExit


def _resolve(answer: "asyncio.Future[Any]", value: Any = None) -> None:
    if not answer.done():
        answer.set_result(value)
