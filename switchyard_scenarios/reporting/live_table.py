"""Shows how far the scenarios are: a table that changes on a terminal, else a line for each."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from switchyard.domain.text import without_control_characters
from switchyard_local.say import Say
from switchyard_scenarios.reporting.evidence import Evidence
from switchyard_scenarios.reporting.results import Result
from switchyard_scenarios.runner import Board
from switchyard_scenarios.scenario import Scenario

_STYLES = {"PASS": "bold green", "FAIL": "bold red", "runs": "yellow", "waits": "dim"}


class Lines:
    """Print failed checks at once, one by one."""

    def __init__(self, say: Say) -> None:
        self._say = say

    def begins(self, scenario: Scenario, evidence: Evidence) -> None:
        pass

    def ended(self, result: Result) -> None:
        verdict = "PASS" if result.passed else "FAIL"
        self._say(f"{verdict}  {result.name:22} {result.seconds:5.1f} s  {result.summary}")
        for line in failures(result):
            self._say(f"      {line}")


class LiveTable:
    def __init__(self, scenarios: Sequence[Scenario]) -> None:
        self._scenarios = scenarios
        self._running: dict[str, Evidence] = {}
        self._results: dict[str, Result] = {}

    def begins(self, scenario: Scenario, evidence: Evidence) -> None:
        self._running[scenario.name] = evidence

    def ended(self, result: Result) -> None:
        self._results[result.name] = result

    def __rich__(self) -> Table:
        table = Table("", "scenario", "result", "time", "evidence", box=None, header_style="dim")
        for number, scenario in enumerate(self._scenarios, start=1):
            table.add_row(str(number), scenario.title, *self._how_it_is(scenario))
        return table

    def _how_it_is(self, scenario: Scenario) -> tuple[Text, str, Text]:
        result, evidence = self._results.get(scenario.name), self._running.get(scenario.name)
        if result:
            return _state("PASS" if result.passed else "FAIL"), _time(result), _evidence(result)
        if evidence:
            return _state("runs"), _time(evidence), _so_far(evidence)
        return _state("waits"), "", Text(scenario.demonstrates, style="dim")


@contextmanager
def a_board(console: Console, scenarios: Sequence[Scenario]) -> Iterator[Board]:
    if not console.is_terminal:
        yield Lines(lambda line: console.print(line, soft_wrap=True))
        return
    table = LiveTable(scenarios)
    with Live(table, console=console, refresh_per_second=4):
        yield table


def failures(result: Result) -> list[str]:
    """Return why the scenario failed, a sentence a line."""
    broken = [f"not so: {check.sentence} ({check.shown})" for check in result.evidence.broken]
    lines = [*([result.ended_early] if result.ended_early else []), *broken]
    return [without_control_characters(line) for line in lines]


def _state(word: str) -> Text:
    return Text(word, style=_STYLES[word])


def _time(of: Result | Evidence) -> str:
    return f"{of.seconds:.1f} s"


def _so_far(evidence: Evidence) -> Text:
    """Return the last thing that happened, and the figures that are not zero."""
    figures = [f"{value} {label}" for label, value in evidence.latest.items() if value]
    happened = [note.label for note in evidence.notes[-1:]]
    return Text(", ".join([*happened, *figures]))


def _evidence(result: Result) -> Text:
    return Text("\n".join([result.summary, *failures(result)]))
