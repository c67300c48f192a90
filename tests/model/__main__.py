"""`python -m tests.model`: see every state of every configuration; `--mutants` plants bugs."""

import argparse
import sys

from tests.model.configurations import CONFIGURATIONS, Configuration
from tests.model.explorer import Explorer, Report
from tests.model.mutants import Verdict, try_all


def main() -> int:
    parser = argparse.ArgumentParser(prog="make model", description=__doc__)
    names = [one.name for one in CONFIGURATIONS]
    parser.add_argument("--config", choices=names, help="only this configuration")
    parser.add_argument("--states", type=int, help="stop each configuration after so many states")
    parser.add_argument("--mutants", action="store_true", help="plant bugs, and see them caught")
    parser.add_argument("--only", default="", help="a word in the name of a bug")
    given = parser.parse_args()
    if given.mutants:
        return plant_all(given.only)
    return explore_all(given.config, given.states)


def explore_all(only: str | None, states: int | None) -> int:
    wanted = [one for one in CONFIGURATIONS if only in {None, one.name}]
    reports = []
    for configuration in wanted:
        print(f"{configuration.name}: {configuration.about}", flush=True)
        at_most = states or configuration.at_most
        report = Explorer(configuration).explore(at_most=at_most, progress=_report_progress)
        reports.append(report)
        _emit(report)
    _sum_up(reports)
    return 1 if any(report.violation for report in reports) else 0


def plant_all(only: str) -> int:
    verdicts = []
    for verdict in try_all(only):
        verdicts.append(verdict)
        _tell_verdict(verdict)
    missed = sum(verdict.missed for verdict in verdicts)
    caught = sum(verdict.violation is not None for verdict in verdicts)
    print(f"{caught} caught, {len(verdicts) - caught - missed} not visible, {missed} missed")
    print(f"{len(verdicts) - missed} passed, {missed} failed")
    return 1 if missed else 0


def _report_progress(report: Report) -> None:
    rate = report.states / max(report.seconds, 0.1)
    print(
        f"  {report.states:,} states, depth {report.depth}, {report.seconds:.0f} s,"
        f" {rate:,.0f} states/s",
        flush=True,
    )


def _emit(report: Report) -> None:
    configuration = report.configuration
    print(
        f"  {report.states:,} states, {report.transitions:,} transitions, depth {report.depth},"
        f" {report.databases:,} stored states that recover, {report.seconds:.0f} s"
    )
    print(f"  {_bounds(configuration)}; cut-offs: {', '.join(configuration.cut_offs())}")
    if report.violation:
        print(f"  VIOLATION {report.violation}", *report.trace, sep="\n    ")
    elif report.complete:
        print("  every reachable state was seen")
    else:
        print(f"  cut off after {report.states:,} states, the nearest first")


def _bounds(configuration: Configuration) -> str:
    tasks = len(configuration.tasks) + configuration.adds
    return (
        f"workers: {configuration.workers}, tasks: {tasks},"
        f" functions at once: {configuration.functions}"
    )


def _sum_up(reports: list[Report]) -> None:
    states, transitions, seconds = (
        sum(getattr(report, name) for report in reports)
        for name in ("states", "transitions", "seconds")
    )
    print(f"{states:,} states, {transitions:,} transitions in {seconds:.0f} s")
    failed = sum(report.violation is not None for report in reports)
    print(f"{len(reports) - failed} passed, {failed} failed")


def _tell_verdict(verdict: Verdict) -> None:
    if verdict.violation:
        word = f"caught in {verdict.configuration}: {verdict.violation}"
    else:
        word = f"not visible: {verdict.reason}" if verdict.reason else "MISSED"
    print(f"{verdict.name}: {word} ({verdict.seconds:.0f} s)", flush=True)


if __name__ == "__main__":
    sys.exit(main())
