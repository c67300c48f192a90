"""`python -m switchyard_scenarios.run`: run the scenarios, judge them, and take everything away
again."""

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from rich.console import Console

from switchyard.adapters.system import SystemClock
from switchyard_local.cloud import LocalCloud
from switchyard_local.errors import CloudError
from switchyard_scenarios.errors import BadUsage
from switchyard_scenarios.harness.place import LOCAL, Cloud, Place, local_place, stage_place
from switchyard_scenarios.harness.removal import sweep
from switchyard_scenarios.reporting.live_table import a_board
from switchyard_scenarios.reporting.report import page
from switchyard_scenarios.reporting.results import Result, last_line, reported
from switchyard_scenarios.runner import Runner, interruptions
from switchyard_scenarios.scenario import NAMES, Scenario, scenario_named, scenarios_named

FAILED: Final = 1
BAD_USAGE: Final = 2
UNREACHABLE: Final = 3
INTERRUPTED: Final = 130
REPORT: Final = Path("scenarios-report.html")


@dataclass(frozen=True, kw_only=True)
class Wanted:
    names: Sequence[str] = ()
    """The scenarios to run; all, if none is named."""
    stage: str = LOCAL
    at_once: int = 1
    keep: bool = False
    as_json: bool = False
    report: Path = REPORT
    function_role: str = ""
    """The ARN of the role for a scenario's Lambda function, on a deployed stage."""


def run(wanted: Wanted, cloud: Cloud, *, results_to: Console, notices_to: Console) -> int:
    """The exit code. Raise `BadUsage` or `CloudError`; `KeyboardInterrupt` before anything runs."""
    scenarios = scenarios_named(wanted.names)
    _check_that_it_can_be_written(wanted.report)
    board_on = notices_to if wanted.as_json else results_to
    with _place(wanted.stage, cloud, notices_to) as place:
        results = _results(scenarios, place, wanted, board_on=board_on, notices_to=notices_to)
    _write_report(results, wanted, notices_to)
    if missing := len(scenarios) - len(results):
        notices_to.print(f"Interrupted: {missing} of {len(scenarios)} did not end.", style="red")
    if wanted.as_json:
        document = reported(results, stage=wanted.stage)
        results_to.print(document.model_dump_json(by_alias=True, indent=2), soft_wrap=True)
    else:
        results_to.print(last_line(results))
    if missing:
        return INTERRUPTED
    return 0 if all(result.passed for result in results) else FAILED


def listing() -> list[str]:
    found = [scenario_named(name) for name in NAMES]
    return [f"{scenario.name:22} {scenario.demonstrates}" for scenario in found]


def _check_that_it_can_be_written(report: Path) -> None:
    """Raise `BadUsage` before anything runs whose report would be lost."""
    where = report if report.exists() else report.parent
    if report.is_dir() or not os.access(where, os.W_OK):
        raise BadUsage(f"The report cannot be written to {report}: name a file with --report.")


def _write_report(results: Sequence[Result], wanted: Wanted, notices_to: Console) -> None:
    if results:
        written = page(results, stage=wanted.stage, now_ms=SystemClock().now_ms())
        wanted.report.write_text(written, encoding="utf-8")
        notices_to.print(f"Report: {wanted.report}", soft_wrap=True)


def _place(stage: str, cloud: Cloud, notices_to: Console) -> AbstractContextManager[Place]:
    if stage == LOCAL:
        return local_place(cloud, notices_to.print)
    return nullcontext(stage_place(stage))


def _results(
    scenarios: Sequence[Scenario],
    place: Place,
    wanted: Wanted,
    *,
    board_on: Console,
    notices_to: Console,
) -> list[Result]:
    """The workers' logs stay, if anything is to be looked into."""
    for names in sweep(place, SystemClock(), notices_to.print):
        notices_to.print(f"Removed what was left behind: {names.prefix}")
    folder = Path(tempfile.mkdtemp(prefix="scenarios-"))
    results: list[Result] = []
    try:
        with interruptions() as interrupted, a_board(board_on, scenarios) as board:
            runner = Runner(
                place=replace(place, interrupted=interrupted, function_role=wanted.function_role),
                folder=folder,
                say=notices_to.print,
                keep=wanted.keep,
            )
            results = runner.run_all(scenarios, board, at_once=wanted.at_once)
    finally:
        if wanted.keep or not all(result.passed for result in results):
            notices_to.print(f"Logs and journals of the workers: {folder}", soft_wrap=True)
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return results


def main(arguments: Sequence[str]) -> int:
    asked = _parser().parse_args(arguments)
    results_to, notices_to = console(to_stderr=False), console(to_stderr=True)
    if asked.list:
        for line in listing():
            results_to.print(line, soft_wrap=True)
        return 0
    wanted = Wanted(
        names=asked.names,
        stage=asked.stage,
        at_once=asked.at_once,
        keep=asked.keep,
        as_json=asked.json,
        report=asked.report,
        function_role=asked.function_role,
    )
    try:
        return run(wanted, LocalCloud(), results_to=results_to, notices_to=notices_to)
    except BadUsage as problem:
        notices_to.print(str(problem), style="red", soft_wrap=True)
        return BAD_USAGE
    except CloudError as problem:
        notices_to.print(str(problem), style="red", soft_wrap=True)
        return UNREACHABLE
    except KeyboardInterrupt:
        notices_to.print("Interrupted.", style="red")
        return INTERRUPTED


def console(*, to_stderr: bool) -> Console:
    return Console(stderr=to_stderr, markup=False, emoji=False, highlight=False)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m switchyard_scenarios.run")
    parser.add_argument("names", nargs="*", help="which ones; all, if none is named")
    parser.add_argument("--list", action="store_true", help="list the scenarios, and end")
    parser.add_argument("--stage", default=LOCAL, help="any but prod; local by default")
    parser.add_argument("--at-once", type=int, default=1, choices=range(1, 5))
    parser.add_argument("--keep", action="store_true", help="leave queues and tables for a look")
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")
    parser.add_argument("--report", type=Path, default=REPORT, help="where the report goes")
    parser.add_argument("--function-role", default="", help="an ARN, for a Lambda on a stage")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
