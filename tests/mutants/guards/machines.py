"""What sick machines, wrong clocks, orphans and cancels would do to tasks."""

from typing import Final

from tests.mutants.guards.places import PACKAGE, SIMULATED
from tests.mutants.mutant import Mutant

SUPERVISION: Final = "switchyard_worker/parent/supervision"
ENDERS_TESTS: Final = (
    "tests/worker/parent/supervision/test_process_enders.py",
    "-k",
    "alone or again or child_ends",
)
MACHINE_TESTS: Final = ("tests/worker/parent/health/test_machine.py",)
CHECKS: Final = "switchyard_worker/parent/receive/cancel_checks.py"
CHECKS_TESTS: Final = ("tests/worker/parent/receive/test_cancel_checks.py",)

GUARDS: Final = (
    Mutant(
        guard="what a running task left in the background is no orphan",
        file=f"{SUPERVISION}/descendants.py",
        old="        return bool(self.users) and owner_of(process.pid) in self.users\n",
        new="        return False\n",
        tests=("tests/worker/parent/supervision/test_descendants.py", "-k", "background"),
    ),
    Mutant(
        guard="a child asks to be killed with its worker",
        file="switchyard_worker/child/limits.py",
        old="prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)\n",
        new="prctl(0, 0, 0, 0, 0)\n",
        tests=ENDERS_TESTS,
    ),
    Mutant(
        guard="a process that ends orphans runs before a child does",
        file=f"{SUPERVISION}/children.py",
        old="                    await self._offload(self._watcher.ensure)\n",
        new="                    pass\n",
        tests=ENDERS_TESTS,
    ),
    Mutant(
        guard="a process that ends orphans is started again",
        file=f"{SUPERVISION}/process_enders.py",
        old="(self._process and self._process.poll() is None)",
        new="self._process",
        tests=ENDERS_TESTS,
    ),
    Mutant(
        guard="a failure that a sick machine explains is charged to no task",
        file="switchyard_worker/parent/health/machine.py",
        old="        return self.give_back(task, problem) if problem else verdict\n",
        new="        return verdict\n",
        tests=MACHINE_TESTS,
    ),
    Mutant(
        guard="nothing of a job that is being cancelled is started",
        file=f"{PACKAGE}/adapters/dynamodb/payloads.py",
        old="            raise MustNotStart(ref.request_id)\n",
        new="            pass\n",
        tests=("tests/contract/jobs/test_cancelling_jobs.py", *SIMULATED),
    ),
    Mutant(
        guard="a worker does not start with a clock that AWS refuses",
        file="switchyard_worker/parent/health/stop.py",
        old="        self._reason = problem_with(offset)\n        self.close()\n",
        new="        self.close()\n",
        tests=("tests/worker/parent/health/test_stop_clock.py",),
    ),
    Mutant(
        guard="a wrong clock is corrected by AWS's time",
        file=f"{PACKAGE}/adapters/aws_time.py",
        old="        self._offset = bounds.correct(self._offset)\n",
        new="",
        tests=("tests/unit/adapters/test_aws_time.py",),
    ),
    Mutant(
        guard="a check ends only the attempt that was read",
        file=CHECKS,
        old="if seen is None or seen.task.fence != self.lease.fence:",
        new="if seen is None:",
        tests=CHECKS_TESTS,
    ),
    Mutant(
        guard="a short task is never checked",
        file=CHECKS,
        old="if running.since <= before and not",
        new="if not",
        tests=CHECKS_TESTS,
    ),
)
