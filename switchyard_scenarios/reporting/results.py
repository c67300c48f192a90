"""The results of scenarios, for people and for machines."""

from collections.abc import Sequence
from dataclasses import dataclass

from switchyard.contracts.wire import Written
from switchyard_scenarios.reporting.evidence import Evidence, Note


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    name: str
    title: str
    demonstrates: str
    evidence: Evidence
    seconds: float
    ended_early: str = ""
    """The reason why not all checks were made, if so."""

    @property
    def passed(self) -> bool:
        return not self.ended_early and self.evidence.passed

    @property
    def reason(self) -> str:
        """Return why the scenario failed: what ended it, and what ought to have been so."""
        broken = [f"not so: {check.sentence} ({check.shown})" for check in self.evidence.broken]
        none = "" if self.evidence.checks or self.ended_early else "it checked nothing"
        return "; ".join(filter(None, [self.ended_early, *broken, none]))

    @property
    def summary(self) -> str:
        """Return what was counted, and how many checks were made."""
        checks = self.evidence.checks
        held = f"{sum(check.held for check in checks)} of {len(checks)} checks"
        counts = [f"{label} {value}" for label, value in self.evidence.counts.items()]
        return ", ".join([held, *counts])


def last_line(results: Sequence[Result]) -> str:
    passed = sum(result.passed for result in results)
    return f"{passed} passed, {len(results) - passed} failed"


class CheckReport(Written):
    sentence: str
    held: bool
    shown: str


class NoteReport(Written):
    at_ms: int
    label: str
    value: int | str


class ScenarioReport(Written):
    name: str
    title: str
    demonstrates: str
    passed: bool
    reason: str
    seconds: float
    counts: dict[str, int]
    checks: tuple[CheckReport, ...]
    notes: tuple[NoteReport, ...]
    figures: tuple[NoteReport, ...]


class RunReport(Written):
    stage: str
    passed: int
    failed: int
    scenarios: tuple[ScenarioReport, ...]


def reported(results: Sequence[Result], *, stage: str) -> RunReport:
    passed = sum(result.passed for result in results)
    return RunReport(
        stage=stage,
        passed=passed,
        failed=len(results) - passed,
        scenarios=tuple(map(_reported, results)),
    )


def _reported(result: Result) -> ScenarioReport:
    evidence = result.evidence
    return ScenarioReport(
        name=result.name,
        title=result.title,
        demonstrates=result.demonstrates,
        passed=result.passed,
        reason=result.reason,
        seconds=round(result.seconds, 1),
        counts=evidence.counts,
        checks=tuple(
            CheckReport(sentence=check.sentence, held=check.held, shown=check.shown)
            for check in evidence.checks
        ),
        notes=tuple(_note(note) for note in sorted(evidence.notes, key=lambda note: note.at_ms)),
        figures=tuple(map(_note, evidence.figures)),
    )


def _note(note: Note) -> NoteReport:
    return NoteReport(at_ms=note.at_ms, label=note.label, value=note.value)
