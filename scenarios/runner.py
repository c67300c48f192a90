"""Runs scenarios, each in a yard of its own, and takes every yard away again."""

import queue
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from local.interrupts import INTERRUPTS
from local.say import Say
from scenarios.evidence import Evidence, Failed
from scenarios.names import Names
from scenarios.place import Place
from scenarios.results import Result
from scenarios.scenario import Scenario
from scenarios.workers import Workers
from scenarios.yard import a_yard
from switchyard.adapters.system import SystemRandomness
from switchyard.adapters.workforce import Threads


class Board(Protocol):
    """Where people see how far the scenarios are."""

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
    """Where workers leave their logs and journals."""
    say: Say
    keep: bool = False
    planted: str = ""

    def run_all(self, scenarios: Sequence[Scenario], board: Board, *, at_once: int) -> list[Result]:
        """Their results, in the same order; after an interruption, of those that had ended."""
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
        """Whatever goes wrong in it is its failure, except an interruption."""
        names = Names.numbered(int(SystemRandomness().between(0, 2**24)))
        evidence = Evidence()
        board.begins(scenario, evidence)
        wrong: list[str] = []
        with (
            _told_in(wrong),
            a_yard(self.place, names, say=self.say, planted=self.planted, keep=self.keep) as yard,
            _told_in(wrong),
            closing(Workers(yard, self.folder / scenario.name, evidence)) as workers,
        ):
            evidence.note("the yard is there", names.prefix)
            scenario.run(yard, workers, evidence)
        result = Result(
            name=scenario.name,
            title=scenario.title,
            what_it_shows=scenario.what_it_shows,
            evidence=evidence,
            seconds=evidence.seconds,
            ended_early="; ".join(wrong),
        )
        board.ended(result)
        return result


@contextmanager
def _told_in(sentences: list[str]) -> Iterator[None]:
    try:
        yield
    except Failed as reason:
        sentences.append(str(reason))
    except Exception as error:  # noqa: BLE001 - the others have to run all the same
        sentences.append(f"{type(error).__name__}: {error}")


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
