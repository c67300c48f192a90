"""`python -m switchyard_scenarios.planted`: each scenario with a defect on purpose, which it has
to notice."""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from rich.console import Console

from switchyard.domain.text import without_control_characters
from switchyard_local.cloud import LocalCloud
from switchyard_local.errors import CloudError
from switchyard_scenarios.harness.place import Cloud, Place, local_place
from switchyard_scenarios.reporting.results import Result
from switchyard_scenarios.run import FAILED, INTERRUPTED, UNREACHABLE, console
from switchyard_scenarios.runner import Runner, interruptions
from switchyard_scenarios.scenario import NAMES, scenario_named


@dataclass(frozen=True, slots=True)
class Planted:
    scenario: str
    defect: str
    noticed_by: tuple[str, ...]
    """The checks that must not hold: to fail for another reason is not to notice."""

    def is_caught(self, result: Result) -> bool:
        return set(self.noticed_by) <= {check.sentence for check in result.evidence.broken}


PLANTED: Final = (
    Planted("happy-path", "lost-completion", ("every message is completed",)),
    Planted(
        "crash-mid-processing",
        "delete-before-work",
        ("what it held is taken over", "every message is completed"),
    ),
    Planted("duplicate-delivery", "no-lease", ("the work on each message is done once",)),
    Planted(
        "poison-messages",
        "no-redrive",
        ("exactly what kills workers ends among the dead letters",),
    ),
    Planted("backpressure", "no-scaling", ("workers come until there are as many as may be",)),
    Planted("side-effects", "effect-before-claim", ("every effect happens once",)),
    Planted(
        "partial-batch",
        "all-or-nothing",
        (
            "in a worker, what went well does not come again",
            "behind a Lambda function, what went well does not come again",
        ),
    ),
    Planted("visibility-extension", "no-extension", ("no message is delivered twice",)),
    Planted(
        "graceful-shutdown",
        "exit-on-sigterm",
        ("it ends with 0", "it finishes what fits into its grace", "it leaves no message hidden"),
    ),
    Planted("out-of-order", "last-arrival-wins", ("every entity ends with its newest version",)),
    Planted("backlog-drain", "no-idempotency", ("each is handled once",)),
)


def run(
    wanted: Sequence[Planted], cloud: Cloud, *, results_to: Console, notices_to: Console
) -> int:
    """The exit code. Raise `CloudError` or `KeyboardInterrupt`."""
    folder = Path(tempfile.mkdtemp(prefix="scenarios-planted-"))
    caught = 0
    try:
        with local_place(cloud, notices_to.print) as place, interruptions() as interrupted:
            for planted in wanted:
                found = replace(place, interrupted=interrupted)
                result = run_one(planted, found, folder / planted.scenario)
                caught += planted.is_caught(result)
                for line in reported(planted, result):
                    results_to.print(line, soft_wrap=True)
    finally:
        if caught == len(wanted):
            shutil.rmtree(folder, ignore_errors=True)
        else:
            notices_to.print(f"Logs and journals of the workers: {folder}", soft_wrap=True)
    results_to.print(f"{caught} of {len(wanted)} planted defects caught")
    return 0 if caught == len(wanted) else FAILED


def run_one(planted: Planted, place: Place, folder: Path) -> Result:
    runner = Runner(place=place, folder=folder, say=lambda _: None, planted=planted.defect)
    return runner.run(scenario_named(planted.scenario))


def reported(planted: Planted, result: Result) -> list[str]:
    """Report what noticed the defect; other broken checks only if it was missed."""
    verdict = "caught" if planted.is_caught(result) else "MISSED"
    line = f"{verdict}  {planted.defect:20} {planted.scenario:22} {result.seconds:5.1f} s"
    broken = [
        f"        not so: {check.sentence} ({check.shown})"
        for check in result.evidence.broken
        if check.sentence in planted.noticed_by
    ]
    if not planted.is_caught(result):
        broken = [f"        {result.reason or 'everything was as it ought to be'}"]
    return [line, *map(without_control_characters, broken)]


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m switchyard_scenarios.planted")
    parser.add_argument("names", nargs="*", help="of which scenarios; of all, if none is named")
    names = parser.parse_args(arguments).names or NAMES
    unknown = set(names) - set(NAMES)
    if unknown:
        parser.error(f"there is no scenario {', '.join(sorted(unknown))}")
    wanted = [planted for planted in PLANTED if planted.scenario in names]
    results_to, notices_to = console(to_stderr=False), console(to_stderr=True)
    try:
        return run(wanted, LocalCloud(), results_to=results_to, notices_to=notices_to)
    except CloudError as problem:
        notices_to.print(str(problem), style="red", soft_wrap=True)
        return UNREACHABLE
    except KeyboardInterrupt:
        notices_to.print("Interrupted.", style="red")
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
