"""Runs scenarios, each in a harness of its own, and takes every harness away again."""

import queue
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from switchyard.adapters.parallel import Threads
from switchyard.adapters.system import SystemRandomness
from switchyard_local.interrupts import INTERRUPTS
from switchyard_local.say import Say
from switchyard_scenarios.harness.harness import a_harness
from switchyard_scenarios.harness.names import Names
from switchyard_scenarios.harness.place import Place
from switchyard_scenarios.harness.workers import Workers
from switchyard_scenarios.reporting.evidence import Evidence, Failed
from switchyard_scenarios.reporting.results import Result
from switchyard_scenarios.scenario import Scenario


class Board(Protocol):
    """Shows people how far the scenarios are."""

    def begins(self, scenario: Scenario, evidence: Evidence) -> None: ...

    def ended(self, result: Result) -> None: ...


class NoBoard:
    def begins(self, scenario: Scenario, evidence: Evidence) -> None:
        pass

    def ended(self, result: Result) -> None:
        pass


NO_BOARD: Final = NoBoard()


@dataclass(frozen=True, kw_only=True)
class Runner:
    place: Place
    folder: Path
    """The folder for the logs and journals of workers."""
    say: Say
    keep: bool = False
    planted: str = ""

    def run_all(self, scenarios: Sequence[Scenario], board: Board, *, at_once: int) -> list[Result]:
        """Return the results in the same order; after an interruption, of those that had ended."""
        waiting: queue.SimpleQueue[Scenario] = queue.SimpleQueue()
        results: dict[str, Result] = {}
        for scenario in scenarios:
            waiting.put(scenario)

        def run_what_waits(_lane: int) -> None:
            while not self.place.interrupted():
                try:
                    scenario = waiting.get_nowait()
                    results[scenario.name] = self.run(scenario, board)
                except (queue.Empty, KeyboardInterrupt):
                    return

        Threads().each(run_what_waits, range(min(at_once, len(scenarios))))
        return [results[scenario.name] for scenario in scenarios if scenario.name in results]

    def run(self, scenario: Scenario, board: Board = NO_BOARD) -> Result:
        """Run a scenario; whatever goes wrong in it is its failure, except an interruption."""
        names = Names.numbered(int(SystemRandomness().between(0, 2**24)))
        evidence = Evidence()
        board.begins(scenario, evidence)
        wrong: list[str] = []
        with (
            _reported_in(wrong),
            a_harness(
                self.place, names, say=self.say, planted=self.planted, keep=self.keep
            ) as harness,
            _reported_in(wrong),
            closing(Workers(harness, self.folder / scenario.name, evidence)) as workers,
        ):
            evidence.note("the harness is there", names.prefix)
            scenario.run(harness, workers, evidence)
        result = Result(
            name=scenario.name,
            title=scenario.title,
            demonstrates=scenario.demonstrates,
            evidence=evidence,
            seconds=evidence.seconds,
            ended_early="; ".join(wrong),
        )
        board.ended(result)
        return result


@contextmanager
def _reported_in(sentences: list[str]) -> Iterator[None]:
    try:
        yield
    except Failed as reason:
        sentences.append(str(reason))
    except Exception as error:  # noqa: BLE001 - the others have to run all the same
        sentences.append(f"{type(error).__name__}: {error}")


@contextmanager
def interruptions() -> Iterator[Callable[[], bool]]:
    """Record a signal to stop instead of ending, so that every harness can be removed."""
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
