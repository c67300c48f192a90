"""Shows how far the scenarios are: a table that changes on a terminal, else a line for each."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from local.say import Say
from scenarios.results import Result
from scenarios.runner import Board
from scenarios.scenario import Scenario
from switchyard.domain.text import without_control_characters

_STYLES = {"PASS": "bold green", "FAIL": "bold red", "runs": "yellow", "waits": "dim"}


class Lines:
    """What failed is told at once, check by check."""

    def __init__(self, say: Say) -> None:
        self._say = say

    def begins(self, scenario: Scenario) -> None:
        pass

    def ended(self, result: Result) -> None:
        verdict = "PASS" if result.passed else "FAIL"
        self._say(f"{verdict}  {result.name:22} {result.seconds:5.1f} s  {result.summary}")
        for line in failures(result):
            self._say(f"      {line}")


class LiveTable:
    def __init__(self, live: Live, scenarios: Sequence[Scenario]) -> None:
        self._live = live
        self._scenarios = scenarios
        self._running: set[str] = set()
        self._results: dict[str, Result] = {}
        self._live.update(self._table())

    def begins(self, scenario: Scenario) -> None:
        self._running.add(scenario.name)
        self._live.update(self._table())

    def ended(self, result: Result) -> None:
        self._results[result.name] = result
        self._live.update(self._table())

    def _table(self) -> Table:
        table = Table("", "scenario", "result", "time", "evidence", box=None, header_style="dim")
        for number, scenario in enumerate(self._scenarios, start=1):
            result = self._results.get(scenario.name)
            state = self._state(scenario.name)
            table.add_row(
                str(number),
                scenario.title,
                Text(state, style=_STYLES[state]),
                f"{result.seconds:.1f} s" if result else "",
                _evidence(result) if result else Text(scenario.what_it_shows, style="dim"),
            )
        return table

    def _state(self, name: str) -> str:
        result = self._results.get(name)
        if result is None:
            return "runs" if name in self._running else "waits"
        return "PASS" if result.passed else "FAIL"


@contextmanager
def a_board(console: Console, scenarios: Sequence[Scenario]) -> Iterator[Board]:
    if not console.is_terminal:
        yield Lines(lambda line: console.print(line, soft_wrap=True))
        return
    with Live(console=console, refresh_per_second=4) as live:
        yield LiveTable(live, scenarios)


def failures(result: Result) -> list[str]:
    """Why it failed, a sentence a line."""
    broken = [f"not so: {check.sentence} ({check.shown})" for check in result.evidence.broken]
    lines = [*([result.ended_early] if result.ended_early else []), *broken]
    return [without_control_characters(line) for line in lines]


def _evidence(result: Result) -> Text:
    return Text("\n".join([result.summary, *failures(result)]))
