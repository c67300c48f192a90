"""All state changes of a job. `docs/protocol.md` says why each guard is needed."""

from dataclasses import fields
from typing import Final

from switchyard.domain.ids import JobRef
from switchyard.domain.jobs.job import Job
from switchyard.domain.jobs.submission_keys import given_up
from switchyard.domain.states import JobState
from switchyard.domain.tasks import due
from switchyard.domain.transition import (
    Absent,
    AnyOf,
    Compared,
    Due,
    Guard,
    NoItem,
    OneOf,
    Transition,
    at_most,
    below,
    equal,
    is_empty,
)

_OPEN: Final = equal("state", JobState.OPEN)
_WRITING: Final = equal("state", JobState.WRITING)
_CANCELLING: Final = equal("state", JobState.CANCELLING)
_AFTER_CANCELLING: Final = OneOf(
    "state", (JobState.OPEN, JobState.COMPLETED, JobState.FAILED, JobState.CANCELLED)
)
_REDRIVING: Final = equal("state", JobState.REDRIVING)
_OF_THE_LAST_RUN: Final = (
    "failure_detected_at_ms",
    "failed_task_id",
    "cancel_requested",
    "cancelled_by",
    "settled_at_ms",
)


def note_written(written: int) -> Transition:
    """Remember how many items of a large job are stored; what is known of more stays."""
    fewer = AnyOf(((Absent("written"),), (below("written", written),)))
    return Transition(name="note_written", guard=(_WRITING, fewer), sets={"written": written})


def open_job(job: Job, *, now_ms: int) -> Transition:
    """Commit a job that is all written, if it is still of the same submission."""
    return Transition(
        name="open_job",
        guard=(_WRITING, equal("created_at_ms", job.created_at_ms)),
        sets={"state": JobState.OPEN},
        due=now_ms + due.JOB_AUDIT,
    )


def abandon(job: Job) -> Transition:
    """Stop looking at a job whose submission did not finish. It may still be opened."""
    return Transition(
        name="abandon",
        guard=(_WRITING, equal("due_at_ms", job.due_at_ms)),
        due=Due.REMOVED,
    )


def give_up_submission(ref: JobRef) -> Transition:
    """Put a job of no submission in the place of one that was not opened, or not even written.

    Its due time stays: the sweeper abandons it.
    """
    job = given_up(ref)
    stored = {one.name: getattr(job, one.name) for one in fields(job) if one.name != "ref"}
    return Transition(
        name="give_up_submission",
        guard=(AnyOf(((NoItem(),), (_WRITING, Absent("document_key")))),),
        sets={name: value for name, value in stored.items() if not is_empty(value)},
    )


def note_failure(job: Job, *, task_id: str, now_ms: int) -> Transition:
    """Remember the first failure of this run."""
    return Transition(
        name="note_failure",
        guard=(Absent("failure_detected_at_ms"), equal("run", job.run)),
        sets={"failure_detected_at_ms": now_ms, "failed_task_id": task_id},
    )


def settle(job: Job, state: JobState, *, now_ms: int) -> Transition:
    """End the job, as its tasks have ended."""
    return Transition(
        name="settle",
        guard=(_OPEN, equal("run", job.run)),
        sets={"state": state, "settled_at_ms": now_ms},
        due=Due.REMOVED,
    )


def postpone(job: Job, due_at_ms: int) -> Transition:
    """Move the due time before something is done about the job: of two sweepers one acts."""
    return Transition(
        name="postpone",
        guard=(equal("due_at_ms", job.due_at_ms),),
        due=due_at_ms,
    )


def add_tasks(job: Job, *, added: int, most_before: int) -> Transition:
    """Count tasks that join the job, if it had no more than `most_before`."""
    return Transition(
        name="add_tasks",
        guard=(
            _OPEN,
            equal("run", job.run),
            Absent("cancel_requested"),
            Absent("redrive_key"),
            at_most("total_tasks", most_before),
        ),
        adds={"total_tasks": added, "additions": 1},
    )


def add_items(*, added: int, most_before: int) -> Transition:
    """Count the tasks that a fan-out made, if the job had no more than `most_before`."""
    return Transition(
        name="add_items",
        guard=(_OPEN, Absent("cancel_requested"), at_most("total_tasks", most_before)),
        adds={"total_tasks": added},
    )


def begin_cancel(job: Job, *, now_ms: int, by: str | None = None) -> Transition:
    """Ask for the job's cancellation; `by` is a person, where one is known."""
    return Transition(
        name="begin_cancel",
        guard=(_OPEN, equal("run", job.run), Absent("redrive_key")),
        sets={"state": JobState.CANCELLING, "cancel_requested": True}
        | ({"cancelled_by": by} if by else {}),
        removes=("cancel_cursor",),
        due=now_ms + due.JOB_BEING_CHANGED,
        already=(_CANCELLING,),
    )


def note_cancel_progress(job: Job, cursor: str) -> Transition:
    """Remember how far the cancellation of this run has come."""
    return Transition(
        name="note_cancel_progress", guard=_cancelling(job), sets={"cancel_cursor": cursor}
    )


def end_cancel(job: Job, *, now_ms: int, cursor: str) -> Transition:
    """Leave the job to its tasks, all of which were settled or flagged."""
    return Transition(
        name="end_cancel",
        guard=_cancelling(job),
        sets={"state": JobState.OPEN, "cancel_cursor": cursor},
        due=now_ms + due.JOB_AUDIT,
    )


def note_events_emitted(job: Job, cursor: str | None) -> Transition:
    """Remember whose events a cancellation has emitted; `None` when it has emitted all."""
    return Transition(
        name="note_events_emitted",
        guard=(_AFTER_CANCELLING, equal("run", job.run)),
        sets={"cancel_cursor": cursor} if cursor else {},
        removes=() if cursor else ("cancel_cursor",),
    )


def begin_redrive(job: Job, *, key: str, now_ms: int) -> Transition:
    """Begin to open a settled job again, by the plan at `key`."""
    return Transition(
        name="begin_redrive",
        guard=(equal("state", job.state), equal("run", job.run), Absent("redrive_key")),
        sets={"state": JobState.REDRIVING, "redrive_key": key, "written": 0},
        due=now_ms + due.JOB_BEING_CHANGED,
        already=(equal("redrive_key", key),),
        still_open=(equal("state", job.state),),
    )


def note_redrive_progress(job: Job, *, written: int) -> Transition:
    """Remember how much of the plan is done; what is known of more stays."""
    return Transition(
        name="note_redrive_progress",
        guard=(_this_redrive(job), below("written", written)),
        sets={"written": written},
    )


def reopen(job: Job, *, now_ms: int, fewer_tasks: int = 0) -> Transition:
    """Begin the job's next run, once everything waits in it that has to wait.

    It has fewer tasks until its fan-outs have made their items anew.
    """
    return Transition(
        name="reopen",
        guard=(_this_redrive(job), _REDRIVING),
        sets={"state": JobState.OPEN, "reopened_at_ms": now_ms},
        removes=_OF_THE_LAST_RUN,
        adds={"run": 1} | ({"total_tasks": -fewer_tasks} if fewer_tasks else {}),
        due=now_ms + due.JOB_BEING_CHANGED,
        already=(_this_redrive(job),),
    )


def end_redrive(job: Job, *, now_ms: int) -> Transition:
    """Forget the plan: nothing is left to do. A job that has settled meanwhile is not due."""
    return Transition(
        name="end_redrive",
        guard=(_this_redrive(job), equal("state", job.state)),
        removes=("redrive_key",),
        due=Due.UNCHANGED if job.state.settled else now_ms + due.JOB_AUDIT,
    )


def _cancelling(job: Job) -> Guard:
    return (_CANCELLING, equal("run", job.run))


def _this_redrive(job: Job) -> Compared:
    return equal("redrive_key", job.redrive_key)
