"""How a job ended, read from its tasks and from nothing else."""

from collections.abc import Iterable

from switchyard.domain.states import JobState, TaskState
from switchyard.domain.tasks.task import Task


def decide_job_outcome(tasks: Iterable[Task]) -> JobState:
    states = {task.state for task in tasks}
    if TaskState.CANCELLED in states:
        return JobState.CANCELLED
    if any(state.failure for state in states):
        return JobState.FAILED
    return JobState.COMPLETED
