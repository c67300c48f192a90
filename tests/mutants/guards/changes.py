"""How a job is cancelled and redriven."""

from typing import Final

from tests.mutants.guards.places import (
    JOB_TRANSITIONS,
    PACKAGE,
    SIMULATED,
    TASK_TRANSITIONS,
)
from tests.mutants.mutant import Mutant

REDRIVING: Final = f"{PACKAGE}/adapters/dynamodb/redrives.py"
PLAN: Final = f"{PACKAGE}/domain/jobs/redrive.py"
CANCEL: Final = f"{PACKAGE}/usecases/jobs/cancel.py"
REDRIVE: Final = f"{PACKAGE}/usecases/jobs/redrive.py"
REDRIVE_REQUESTS: Final = f"{PACKAGE}/usecases/jobs/redrive_requests.py"
REACH: Final = f"{PACKAGE}/domain/redrives/reach.py"
CLAIMS: Final = f"{PACKAGE}/domain/tasks/claim_refusals.py"
DISPATCH: Final = f"{PACKAGE}/usecases/dispatching/dispatch_task.py"
MANY_WRITES: Final = f"{PACKAGE}/adapters/dynamodb/many_writes.py"
PAYLOADS: Final = f"{PACKAGE}/adapters/dynamodb/payloads.py"
READINESS: Final = f"{PACKAGE}/domain/tasks/readiness.py"
CLAIMS_TESTS: Final = ("tests/unit/domain/tasks/test_claim_refusals.py",)
CANCELLING_TESTS: Final = (
    "tests/contract/jobs/test_cancelling.py",
    "tests/contract/jobs/test_cancelling_jobs.py",
    *SIMULATED,
)
REDRIVING_TESTS: Final = ("tests/contract/jobs/test_redriving.py", *SIMULATED)
PLAN_TESTS: Final = ("tests/unit/domain/jobs/test_redriving.py",)
CANCEL_TESTS: Final = (
    "tests/unit/usecases/jobs/test_cancel.py",
    "tests/unit/usecases/jobs/test_cancel_pages.py",
)
REDRIVE_TESTS: Final = (
    "tests/unit/usecases/jobs/redrives/test_redrive.py",
    "tests/unit/usecases/jobs/redrives/test_redrive_pages.py",
)
REDRIVE_AGAIN_TESTS: Final = ("tests/unit/usecases/jobs/redrives/test_redrive_again.py",)

GUARDS: Final = (
    Mutant(
        guard="only the task that was read is flagged",
        file=TASK_TRANSITIONS,
        old="guard=as_read,",
        new="guard=(),",
        tests=CANCELLING_TESTS,
    ),
    Mutant(
        guard="a job that is being redriven is not cancelled",
        file=JOB_TRANSITIONS,
        old='guard=(_OPEN, equal("run", job.run), Absent("redrive_key")),',
        new='guard=(_OPEN, equal("run", job.run)),',
        tests=CANCELLING_TESTS,
    ),
    Mutant(
        guard="only a job that is being cancelled is open again, or has its progress stored",
        file=JOB_TRANSITIONS,
        old='    return (_CANCELLING, equal("run", job.run))\n',
        new='    return (equal("run", job.run),)\n',
        tests=CANCELLING_TESTS,
    ),
    Mutant(
        guard="the progress of an older run is not stored",
        file=JOB_TRANSITIONS,
        old='    return (_CANCELLING, equal("run", job.run))\n',
        new="    return (_CANCELLING,)\n",
        tests=CANCELLING_TESTS,
    ),
    Mutant(
        guard="whose events an older run emitted is not stored",
        file=JOB_TRANSITIONS,
        old='guard=(_AFTER_CANCELLING, equal("run", job.run))',
        new="guard=(_AFTER_CANCELLING,)",
        tests=CANCELLING_TESTS,
    ),
    Mutant(
        guard="a cancellation that emits events does not move the cursor of a later one",
        file=JOB_TRANSITIONS,
        old='guard=(_AFTER_CANCELLING, equal("run", job.run))',
        new='guard=(equal("run", job.run),)',
        tests=CANCELLING_TESTS,
    ),
    Mutant(
        guard="a cancellation does not clear what the event of the job's creation is due by",
        file=f"{PACKAGE}/domain/jobs/cancel_cursor.py",
        old="settled_by_following(task) and task.ref.task_id != START",
        new="settled_by_following(task)",
        tests=CANCEL_TESTS,
    ),
    Mutant(
        guard="another pass follows one that met tasks which wait",
        file=f"{PACKAGE}/domain/jobs/cancel_cursor.py",
        old="step = Pass.QUEUED if self.step is Pass.FIRST and leaves_some else self.step",
        new="step = self.step",
        tests=CANCEL_TESTS,
    ),
    Mutant(
        guard="another pass follows one in which tasks changed too fast",
        file=f"{PACKAGE}/domain/jobs/cancel_cursor.py",
        old="leaves_some = missed or any(map(self._leaves, page))",
        new="leaves_some = any(map(self._leaves, page))",
        tests=CANCEL_TESTS,
    ),
    Mutant(
        guard="a cancelled task stays due until its event was emitted",
        file=CANCEL,
        old="            self.follower.settle_dependents(settled, until=until)",
        new="            self.follower.follow_cancelled(settled, until=until)",
        tests=CANCEL_TESTS,
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
        file=TASK_TRANSITIONS,
        old='guard=(equal("state", task.state), equal("fence", task.fence), equal("run",'
        " task.run)),",
        new="guard=(),",
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
        old="if not job_cancelled:\n            ready =",
        new="if True:\n            ready =",
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
        guard="what was reopened since is not left to an earlier cancellation",
        file=f"{PACKAGE}/domain/jobs/job.py",
        old="(emits and task.state is TaskState.CANCELLED)",
        new="emits",
        tests=("tests/contract/jobs/test_cancelling_jobs.py",),
    ),
    Mutant(
        guard="no page is begun that would not end in time",
        file=CANCEL,
        old="        return now + (now - began) >= until",
        new="        return now >= until",
        tests=("tests/unit/usecases/jobs/test_cancel_pages.py",),
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
        file=TASK_TRANSITIONS,
        old="""            equal("run", reopening.run),
            equal("fence", reopening.fence),
""",
        new="",
        tests=REDRIVING_TESTS,
    ),
    Mutant(
        guard="a job begins its next run once",
        file=JOB_TRANSITIONS,
        old="guard=(_this_redrive(job), _REDRIVING),",
        new="guard=(_this_redrive(job),),",
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
        file=JOB_TRANSITIONS,
        old='guard=(_this_redrive(job), below("written", written)),',
        new="guard=(_this_redrive(job),),",
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
        file="switchyard_worker/parent/receive/settlement.py",
        old="        if released.cancel_requested:\n",
        new="        if False:\n",
        tests=("tests/worker/parent/receive/test_settlement.py",),
    ),
    Mutant(
        guard="what is flagged need not wait until it may run",
        file=f"{PACKAGE}/domain/jobs/overdue.py",
        old="if task.not_before_ms > now_ms and not task.cancel_requested:",
        new="if task.not_before_ms > now_ms:",
        tests=("tests/unit/domain/jobs/test_sweeping.py",),
    ),
    Mutant(
        guard="a reopened parent is no longer missed",
        file=PLAN,
        old="for one in task.not_completed if self._is_kept(one))",
        new="for one in task.not_completed)",
        tests=PLAN_TESTS,
    ),
    Mutant(
        guard="what completed is kept",
        file=REACH,
        old="return task.state is not TaskState.COMPLETED or gathers",
        new="return True",
        tests=PLAN_TESTS,
    ),
    Mutant(
        guard="nothing of a job that is redriven is due",
        file=REDRIVE_REQUESTS,
        old="any(task.due_at_ms is not None for task in picture.tasks)",
        new="not picture.tasks",
        tests=REDRIVE_TESTS,
    ),
    Mutant(
        guard="what was reopened before a crash is told all the same",
        file=TASK_TRANSITIONS,
        old='already=(equal("run", reopening.run + 1),),',
        new="already=None,",
        tests=REDRIVE_AGAIN_TESTS,
    ),
)
