"""Scenarios whose outcome a test chooses."""

from collections.abc import Callable
from dataclasses import dataclass

from switchyard_scenarios.harness.harness import Harness
from switchyard_scenarios.harness.workers import Workers
from switchyard_scenarios.reporting.evidence import Evidence, Failed
from switchyard_scenarios.reporting.watch import Watch

Act = Callable[[Harness, Workers, Evidence], None]


@dataclass(frozen=True)
class Acted:
    name: str
    act: Act
    title: str = "A <title>"
    demonstrates: str = "What it shows."

    def run(self, harness: Harness, workers: Workers, evidence: Evidence) -> None:
        self.act(harness, workers, evidence)


def holds(_: Harness, __: Workers, evidence: Evidence) -> None:
    evidence.count("sent", 3)
    evidence.check("all is well", held=True, shown="3 of 3")


def does_not_hold(_: Harness, __: Workers, evidence: Evidence) -> None:
    evidence.check("one is lost", held=True)
    evidence.check("none is lost", held=False, shown="2 of 3")
    evidence.check("none is there twice", held=False, shown="4")


def checks_nothing(_: Harness, __: Workers, evidence: Evidence) -> None:
    evidence.note("nothing to see")


def gives_up(_: Harness, __: Workers, evidence: Evidence) -> None:
    evidence.check("all is well", held=True)
    raise Failed("not within 3 s: the queue is empty")


def has_a_bug(*_: object) -> None:
    raise ZeroDivisionError("by zero")


def waits_for_ever(harness: Harness, workers: Workers, evidence: Evidence) -> None:
    Watch(harness, workers, evidence).until("never", lambda _: False)
