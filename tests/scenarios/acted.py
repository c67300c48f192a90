"""Scenarios that do as they are told."""

from collections.abc import Callable
from dataclasses import dataclass

from scenarios.evidence import Evidence, Failed
from scenarios.observing import Watch
from scenarios.workers import Workers
from scenarios.yard import Yard

Act = Callable[[Yard, Workers, Evidence], None]


@dataclass(frozen=True)
class Acted:
    name: str
    act: Act
    title: str = "A <title>"
    what_it_shows: str = "What it shows."

    def run(self, yard: Yard, workers: Workers, evidence: Evidence) -> None:
        self.act(yard, workers, evidence)


def holds(_: Yard, __: Workers, evidence: Evidence) -> None:
    evidence.count("sent", 3)
    evidence.check("all is well", held=True, shown="3 of 3")


def does_not_hold(_: Yard, __: Workers, evidence: Evidence) -> None:
    evidence.check("one is lost", held=True)
    evidence.check("none is lost", held=False, shown="2 of 3")
    evidence.check("none is there twice", held=False, shown="4")


def checks_nothing(_: Yard, __: Workers, evidence: Evidence) -> None:
    evidence.note("nothing to see")


def gives_up(_: Yard, __: Workers, evidence: Evidence) -> None:
    evidence.check("all is well", held=True)
    raise Failed("not within 3 s: the queue is empty")


def has_a_bug(*_: object) -> None:
    raise ZeroDivisionError("by zero")


def waits_for_ever(yard: Yard, workers: Workers, evidence: Evidence) -> None:
    Watch(yard, workers, evidence).until("never", lambda _: False)
