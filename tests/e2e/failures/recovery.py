"""Measures how a stuck job recovers: by which step, why, and how long it takes.

`python -m tests.e2e.failures.recovery` causes every fault on a local cloud of its own.
"""

import sys
import tempfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.output import say
from switchyard.adapters.system import SystemClock
from switchyard.contracts.jobs import JobView
from tests.e2e.conftest import running
from tests.e2e.failures.broken_stage import Nudged, Stricken
from tests.e2e.failures.faults import FAULTS, Fault
from tests.e2e.patience import eventually
from tests.e2e.workers import LEASE_MS, relieve

Row = tuple[str, str, str, str]
HEADINGS: Final[Row] = ("what was broken", "what put it right, and why", "sweeps", "seconds")


@dataclass(frozen=True, kw_only=True)
class Recovery:
    fault: str
    job: JobView
    completions: dict[str, list[int]]
    """Return the fences of the attempts that the log has, by task."""
    accepted: dict[str, int]
    """The fence of the attempt that the state table has, by task."""
    nudges: tuple[Nudged, ...]
    sweeps: int
    seconds: float
    """From the fault to the settled job."""

    @property
    def complete(self) -> bool:
        return self.job.status == "completed" and self.told_once and bool(self.nudges)

    @property
    def told_once(self) -> bool:
        """Each task's completion, and the one that counts."""
        return self.completions == {name: [fence] for name, fence in self.accepted.items()}


def recover(harness: Stricken, fault: Fault) -> Recovery:
    job_id = fault.happen(harness)
    job = harness.cloud.settled(job_id)
    seconds = SystemClock().monotonic() - harness.broken_at
    names = [task.task_id for task in job.tasks]
    return Recovery(
        fault=fault.name,
        job=job,
        completions={name: _completions(harness, job_id, name) for name in names},
        accepted={name: int(harness.cloud.control_item(job_id, name)["fence"]) for name in names},
        nudges=harness.nudges(job_id),
        sweeps=harness.sweeps,
        seconds=seconds,
    )


def _completions(harness: Stricken, job_id: str, task_id: str) -> list[int]:
    def reported() -> list[int] | None:
        events = harness.cloud.named_job(job_id, task_id)
        completed = [event for event in events if event["eventType"] == "Task Completed"]
        return [int(event["properties"]["fence"]) for event in completed] or None

    return eventually(reported, f"{task_id}: its completion is not in the log")


def shown(recovery: Recovery) -> list[Row]:
    """Return one row per wake-up; the facts of the fault are in the first."""
    reported = [f"{each.action} {each.what}: {each.reason}" for each in recovery.nudges]
    first, *others = reported or ["nothing"]
    facts = (str(recovery.sweeps), f"{recovery.seconds:.1f}")
    return [(recovery.fault, first, *facts), *(("", each, "", "") for each in others)]


def tried(harness: Stricken, fault: Fault) -> tuple[list[Row], bool]:
    """Return the rows of a fault, and whether the job recovered."""
    try:
        recovery = recover(harness, fault)
    except AssertionError as stuck:
        return [(fault.name, f"NOT PUT RIGHT: {stuck}", str(harness.sweeps), "")], False
    return shown(recovery), recovery.complete


def table(rows: list[Row]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def main() -> int:
    with (
        tempfile.TemporaryDirectory() as name,
        running(Path(name), thinks_ms=0) as cloud,
        closing(relieve(cloud.local, cloud.folder, Path(name) / "workers")) as workers,
    ):
        harness = Stricken(cloud, workers)
        results = [tried(harness, fault) for fault in FAULTS]
    say(f"A lease is {LEASE_MS / 1000:g} s here, and what is due in minutes is due at once:")
    say(table([HEADINGS, *(row for rows, _ in results for row in rows)]))
    return 0 if all(right for _, right in results) else 1


if __name__ == "__main__":
    sys.exit(main())
