"""What puts a stuck job right, why, and how long it takes.

As a command: all faults on a local cloud of its own, in a table, `python -m tests.e2e.recovery`.
"""

import sys
import tempfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.telling import tell
from switchyard.adapters.system import SystemClock
from switchyard.contracts.jobs import JobView
from tests.e2e.conftest import running
from tests.e2e.faults import FAULTS, Fault
from tests.e2e.patience import eventually
from tests.e2e.stricken import Nudged, Stricken
from tests.e2e.workers import LEASE_MS, relieve

Row = tuple[str, str, str, str]
HEADINGS: Final[Row] = ("what was broken", "what put it right, and why", "sweeps", "seconds")


@dataclass(frozen=True, kw_only=True)
class Recovery:
    fault: str
    job: JobView
    completions: dict[str, list[int]]
    """Of each task, the fences of those that its log tells of."""
    accepted: dict[str, int]
    """Of each task, the fence of the one that the state table has."""
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


def recover(yard: Stricken, fault: Fault) -> Recovery:
    job_id = fault.happen(yard)
    job = yard.cloud.settled(job_id)
    seconds = SystemClock().monotonic() - yard.broken_at
    names = [task.task_id for task in job.tasks]
    return Recovery(
        fault=fault.name,
        job=job,
        completions={name: _completions(yard, job_id, name) for name in names},
        accepted={name: int(yard.cloud.control_item(job_id, name)["fence"]) for name in names},
        nudges=yard.nudges(job_id),
        sweeps=yard.sweeps,
        seconds=seconds,
    )


def _completions(yard: Stricken, job_id: str, task_id: str) -> list[int]:
    def told() -> list[int] | None:
        events = yard.cloud.told_of(job_id, task_id)
        completed = [event for event in events if event["eventType"] == "Task Completed"]
        return [int(event["properties"]["fence"]) for event in completed] or None

    return eventually(told, f"{task_id}: its completion is not in the log")


def shown(recovery: Recovery) -> list[Row]:
    """One row for each nudge; the rest is told beside the first."""
    told = [f"{each.action} {each.what}: {each.reason}" for each in recovery.nudges]
    first, *others = told or ["nothing"]
    facts = (str(recovery.sweeps), f"{recovery.seconds:.1f}")
    return [(recovery.fault, first, *facts), *(("", each, "", "") for each in others)]


def tried(yard: Stricken, fault: Fault) -> tuple[list[Row], bool]:
    """What is to be told of it, and whether all was put right."""
    try:
        recovery = recover(yard, fault)
    except AssertionError as stuck:
        return [(fault.name, f"NOT PUT RIGHT: {stuck}", str(yard.sweeps), "")], False
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
        yard = Stricken(cloud, workers)
        results = [tried(yard, fault) for fault in FAULTS]
    tell(f"A lease is {LEASE_MS / 1000:g} s here, and what is due in minutes is due at once:")
    tell(table([HEADINGS, *(row for rows, _ in results for row in rows)]))
    return 0 if all(right for _, right in results) else 1


if __name__ == "__main__":
    sys.exit(main())
