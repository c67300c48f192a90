"""In-memory twins of every adapter, under the same contract tests, and whole jobs that run on them.

`run_job` and what scripts consist of are imported when they are used: pytest imports this package
in every environment that Switchyard is installed in.
"""

from typing import TYPE_CHECKING, Final

from switchyard.on_demand import on_demand

if TYPE_CHECKING:
    from switchyard.testing.clock import ManualClock
    from switchyard.testing.harness import MemoryHarness
    from switchyard.testing.job_runs.decisions import approve, reject
    from switchyard.testing.job_runs.errors import JobTestError
    from switchyard.testing.job_runs.files import leaves
    from switchyard.testing.job_runs.result import JobResult, TaskResult
    from switchyard.testing.job_runs.run import run_job
    from switchyard.testing.job_runs.scripts import fails, in_turn, takes

__all__ = [
    "JobResult",
    "JobTestError",
    "ManualClock",
    "MemoryHarness",
    "TaskResult",
    "approve",
    "fails",
    "in_turn",
    "leaves",
    "reject",
    "run_job",
    "takes",
]

_PARTS: Final = {
    "clock": ("ManualClock",),
    "harness": ("MemoryHarness",),
    "job_runs.decisions": ("approve", "reject"),
    "job_runs.errors": ("JobTestError",),
    "job_runs.files": ("leaves",),
    "job_runs.result": ("JobResult", "TaskResult"),
    "job_runs.run": ("run_job",),
    "job_runs.scripts": ("fails", "in_turn", "takes"),
}

if not TYPE_CHECKING:
    __getattr__ = on_demand(__name__, _PARTS)
