"""What a job that is not simply open or settled is in the middle of."""

from enum import StrEnum

from switchyard.domain.jobs.cancel_cursor import CancelCursor, Pass
from switchyard.domain.jobs.job import Job
from switchyard.domain.states import JobState


class NextStep(StrEnum):
    EXPAND = "expand"
    """Accepted, and its items are not all written."""
    CANCEL = "cancel"
    """Some of its tasks are still to be visited, or their events to be emitted."""
    REDRIVE = "redrive"
    """Some of its tasks are still to be opened again."""


def next_step(job: Job) -> NextStep | None:
    """`None` for a job that goes on by itself or is for a newer version to go on with, and for one
    whose submission never finished.
    """
    if job.state is JobState.UNKNOWN:
        return None
    if job.state is JobState.WRITING:
        return NextStep.EXPAND if job.document_key else None
    if job.state is JobState.CANCELLING:
        return NextStep.CANCEL
    if job.state is JobState.REDRIVING or job.redrive_key:
        return NextStep.REDRIVE
    if CancelCursor.parse(job.cancel_cursor).step is Pass.EVENTS:
        return NextStep.CANCEL
    return None
