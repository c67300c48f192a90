"""How a job is cancelled and redriven."""

from typing import Final

from tests.mutants.guards.places import PACKAGE, SIMULATED
from tests.mutants.mutant import Mutant

CANCELLING: Final = f"{PACKAGE}/adapters/dynamodb/cancelling.py"
REDRIVING: Final = f"{PACKAGE}/adapters/dynamodb/redriving.py"
PLAN: Final = f"{PACKAGE}/domain/jobs/redriving.py"
CANCEL: Final = f"{PACKAGE}/usecases/jobs/cancel.py"
REDRIVE: Final = f"{PACKAGE}/usecases/jobs/redrive.py"
CLAIMS: Final = f"{PACKAGE}/domain/tasks/claims.py"
DISPATCH: Final = f"{PACKAGE}/usecases/dispatching/dispatch_task.py"
GRAPH: Final = f"{PACKAGE}/adapters/dynamodb/task_graph.py"
MANY_WRITES: Final = f"{PACKAGE}/adapters/dynamodb/many_writes.py"
PAYLOADS: Final = f"{PACKAGE}/adapters/dynamodb/payloads.py"
READINESS: Final = f"{PACKAGE}/domain/tasks/readiness.py"
CLAIMS_TESTS: Final = ("tests/unit/domain/tasks/test_claims.py",)
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
        guard="only a job that is being cancelled is open again, or has its progress stored",
        file=CANCELLING,
        old='_CANCELLING: Final = "#state = :cancelling AND',
        new='_CANCELLING: Final = ":cancelling = :cancelling AND',
        tests=CANCELLING_TESTS,
    ),
    Mutant(
        guard="the progress of an older run is not stored",
        file=CANCELLING,
        old=":cancelling AND #run = :run",
        new=":cancelling AND :run = :run",
        tests=CANCELLING_TESTS,
    ),
    Mutant(
        guard="one that changed keeps none of the others from being cancelled",
        file=MANY_WRITES,
        old="for number, no in zip(entries, refused, strict=True) if not no]",
        new="for number, no in zip(entries, refused, strict=True) if no]",
        tests=CANCELLING_TESTS,
    ),
    Mutant(
        guard="due times are cleared together only of tasks that are as read",
        file=GRAPH,
        old='condition="#state = :state AND #fence = :fence AND #run = :run"',
        new='condition=":state = :state AND :fence = :fence AND :run = :run"',
        tests=CANCELLING_TESTS,
    ),
    Mutant(
        guard="a task is not started once its job is being cancelled",
        file=PAYLOADS,
        old="if job and job_from(job, ref.tenant).being_cancelled:",
        new="if job and not job:",
        tests=(*CANCELLING_TESTS, "tests/simulation/test_size.py"),
    ),
    Mutant(
        guard="a waiting task of a job that is being cancelled does not become ready",
        file=READINESS,
        old="if task.cancel_requested or job_cancelled:",
        new="if task.cancel_requested:",
        tests=CANCEL_TESTS,
    ),
    Mutant(
        guard="nothing ready of a job that is being cancelled is sent",
        file=DISPATCH,
        old="if not woken_by_event and not found.job_cancelled:",
        new="if not woken_by_event:",
        tests=CANCEL_TESTS,
    ),
    Mutant(
        guard="what changed while it was visited is visited again",
        file=CANCEL,
        old="tasks = [task for task in found.values() if cursor.wants(task)]",
        new="tasks = []",
        tests=CANCEL_TESTS,
    ),
    Mutant(
        guard="a step goes on where the last one stopped",
        file=CANCEL,
        old="self.cancelling.note_progress(job, str(cursor))",
        new="pass",
        tests=CANCEL_TESTS,
    ),
    Mutant(
        guard="a job whose end came while it was cancelled is settled",
        file=CANCEL,
        old="            self.follower.follow_cancelled([end], until=until)",
        new="            pass",
        tests=CANCEL_TESTS,
    ),
    Mutant(
        guard="a wake-up for a later run than the one that settled is not needless",
        file=CLAIMS,
        old="if task.state.settled and task.run >= run and task.due_at_ms is None:",
        new="if task.state.settled and task.due_at_ms is None:",
        tests=CLAIMS_TESTS,
    ),
    Mutant(
        guard="a settled task whose event is overdue still needs its wake-up",
        file=CLAIMS,
        old="if task.state.settled and task.run >= run and task.due_at_ms is None:",
        new="if task.state.settled and task.run >= run:",
        tests=CLAIMS_TESTS,
    ),
    Mutant(
        guard="a flagged task still needs its wake-up",
        file=CLAIMS,
        old="TaskState.QUEUED} and not task.cancel_requested",
        new="TaskState.QUEUED}",
        tests=CLAIMS_TESTS,
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
        file="worker/parent/receive/settlement.py",
        old="        if released.cancel_requested:\n",
        new="        if False:\n",
        tests=("tests/worker/parent/receive/test_settlement.py",),
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
