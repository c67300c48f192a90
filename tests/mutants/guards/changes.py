"""How a job is cancelled and redriven."""

from typing import Final

from tests.mutants.guards.places import PACKAGE, SIMULATED
from tests.mutants.mutant import Mutant

CANCELLING: Final = f"{PACKAGE}/adapters/dynamodb/cancelling.py"
REDRIVING: Final = f"{PACKAGE}/adapters/dynamodb/redriving.py"
PLAN: Final = f"{PACKAGE}/domain/jobs/redriving.py"
CANCEL: Final = f"{PACKAGE}/usecases/jobs/cancel.py"
REDRIVE: Final = f"{PACKAGE}/usecases/jobs/redrive.py"
CANCELLING_TESTS: Final = ("tests/contract/test_cancelling.py", *SIMULATED)
REDRIVING_TESTS: Final = ("tests/contract/test_redriving.py", *SIMULATED)
PLAN_TESTS: Final = ("tests/unit/domain/jobs/test_redriving.py",)
CANCEL_TESTS: Final = ("tests/unit/usecases/jobs/test_cancel.py",)
REDRIVE_TESTS: Final = ("tests/unit/usecases/jobs/test_redrive.py",)
REDRIVE_AGAIN_TESTS: Final = ("tests/unit/usecases/jobs/test_redrive_again.py",)

GUARDS: Final = (
    Mutant(
        guard="only the task that was read is flagged",
        file=CANCELLING,
        old='condition="#state = :state AND #fence = :fence"',
        new='condition=":state = :state AND :fence = :fence"',
        tests=CANCELLING_TESTS,
    ),
    Mutant(
        guard="a job that is being redriven is not cancelled",
        file=CANCELLING,
        old=" AND attribute_not_exists(#redrive_key)",
        new="",
        tests=CANCELLING_TESTS,
    ),
    Mutant(
        guard="only a job that is being cancelled is open again",
        file=CANCELLING,
        old='condition="#state = :cancelling AND',
        new='condition=":cancelling = :cancelling AND',
        tests=CANCELLING_TESTS,
    ),
    Mutant(
        guard="what waits is flagged before its parents are settled",
        file=CANCEL,
        old="left.sort(key=lambda found: isinstance(found[1], Settle))",
        new="left.sort(key=lambda found: not isinstance(found[1], Settle))",
        tests=CANCEL_TESTS,
    ),
    Mutant(
        guard="a job whose end came while it was cancelled is settled",
        file=CANCEL,
        old="            self.dispatches.send([end.this_run])",
        new="            pass",
        tests=CANCEL_TESTS,
    ),
    Mutant(
        guard="a task is reopened from the run that was planned",
        file=REDRIVING,
        old='condition="#state = :read AND #run = :run AND #fence = :fence"',
        new='condition="#state = :read AND :run = :run AND :fence = :fence"',
        tests=REDRIVING_TESTS,
    ),
    Mutant(
        guard="a job begins its next run once",
        file=REDRIVING,
        old="AND #state = :redriving",
        new="AND :redriving = :redriving",
        tests=REDRIVING_TESTS,
    ),
    Mutant(
        guard="edges are added to those that were read",
        file=REDRIVING,
        old='condition="#tasks = :before"',
        new='condition="attribute_exists(#PK) OR #tasks = :before"',
        tests=REDRIVING_TESTS,
    ),
    Mutant(
        guard="the progress of a redrive never goes back",
        file=REDRIVING,
        old=" AND #written < :set_written",
        new="",
        tests=REDRIVING_TESTS,
    ),
    Mutant(
        guard="a redrive goes on where it stopped",
        file=REDRIVE,
        old="done = max(job.written - after, 0)",
        new="done = 0",
        tests=REDRIVE_TESTS,
    ),
    Mutant(
        guard="what is handed back is ended if it was flagged",
        file="worker/settling.py",
        old="        if released.cancel_requested:\n",
        new="        if False:\n",
        tests=("tests/worker/test_settling.py",),
    ),
    Mutant(
        guard="what is flagged need not wait until it may run",
        file=f"{PACKAGE}/domain/jobs/sweeping.py",
        old="if task.not_before_ms > now_ms and not task.cancel_requested:",
        new="if task.not_before_ms > now_ms:",
        tests=("tests/unit/domain/jobs/test_sweeping.py",),
    ),
    Mutant(
        guard="a reopened parent is no longer missed",
        file=PLAN,
        old="for name in task.not_completed if name not in reached)",
        new="for name in task.not_completed)",
        tests=PLAN_TESTS,
    ),
    Mutant(
        guard="what completed is kept",
        file=PLAN,
        old="name == END or tasks[name].state is TaskState.COMPLETED",
        new="name == END",
        tests=PLAN_TESTS,
    ),
    Mutant(
        guard="nothing of a job that is redriven is due",
        file=REDRIVE,
        old="any(task.due_at_ms is not None for task in picture.tasks)",
        new="not picture.tasks",
        tests=REDRIVE_TESTS,
    ),
    Mutant(
        guard="what was reopened before a crash is told all the same",
        file=f"{PACKAGE}/adapters/memory/redriving.py",
        old="return stored if stored.run == reopening.run + 1 else None",
        new="return stored if stored.state is JobState.OPEN else None",
        tests=REDRIVE_AGAIN_TESTS,
    ),
)
