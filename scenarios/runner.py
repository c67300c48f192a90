"""Runs scenarios, each in a yard of its own, and takes every yard away again."""

import queue
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from local.interrupts import INTERRUPTS
from local.say import Say
from scenarios.evidence import Evidence, Failed
from scenarios.names import Names
from scenarios.place import Place
from scenarios.results import Result
from scenarios.scenario import Scenario
from scenarios.workers import Workers
from scenarios.yard import a_yard
from switchyard.adapters.system import SystemClock, SystemRandomness
from switchyard.adapters.workforce import Threads


class Board(Protocol):
    """Where people see how far the scenarios are."""

    def begins(self, scenario: Scenario) -> None: ...

    def ended(self, result: Result) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Runner:
    place: Place
    folder: Path
    """Where workers leave their logs and journals."""
    say: Say
    keep: bool = False
    planted: str = ""

    def run_all(self, scenarios: Sequence[Scenario], board: Board, *, at_once: int) -> list[Result]:
        """Their results, in the same order."""
        waiting: queue.SimpleQueue[Scenario] = queue.SimpleQueue()
        results: dict[str, Result] = {}
        for scenario in scenarios:
            waiting.put(scenario)

        def run_what_waits(_lane: int) -> None:
            while not waiting.empty():
                try:
                    scenario = waiting.get_nowait()
                except queue.Empty:
                    return
                board.begins(scenario)
                results[scenario.name] = self.run(scenario)
                board.ended(results[scenario.name])

        Threads().each(run_what_waits, range(min(at_once, len(scenarios))))
        return [results[scenario.name] for scenario in scenarios]

    def run(self, scenario: Scenario) -> Result:
        """Whatever goes wrong in it is its failure, except an interruption."""
        clock = SystemClock()
        began = clock.monotonic()
        evidence = Evidence(clock)
        ended_early = ""
        try:
            self._run(scenario, evidence)
        except Failed as reason:
            ended_early = str(reason)
        except Exception as error:  # noqa: BLE001 - the others have to run all the same
            ended_early = f"{type(error).__name__}: {error}"
        return Result(
            name=scenario.name,
            title=scenario.title,
            what_it_shows=scenario.what_it_shows,
            evidence=evidence,
            seconds=clock.monotonic() - began,
            ended_early=ended_early,
        )

    def _run(self, scenario: Scenario, evidence: Evidence) -> None:
        names = Names.numbered(int(SystemRandomness().between(0, 2**24)))
        with a_yard(self.place, names, say=self.say, planted=self.planted, keep=self.keep) as yard:
            evidence.note("the yard is there", names.prefix)
            workers = Workers(yard, self.folder / scenario.name, evidence)
            try:
                scenario.run(yard, workers, evidence)
            finally:
                workers.close()


@contextmanager
def interruptions() -> Iterator[Callable[[], bool]]:
    """Being told to stop is remembered, for whoever asks: so every yard can be taken away."""
    came: list[int] = []
    before = {
        number: signal.signal(number, lambda number, _frame: came.append(number))
        for number in INTERRUPTS
    }
    try:
        yield lambda: bool(came)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
