"""How a job ended, read from its tasks and from nothing else."""

from collections.abc import Iterable

from switchyard.domain.errors import NewerVersion
from switchyard.domain.states import JobState, TaskState
from switchyard.domain.tasks.task import Task


def decide_job_outcome(tasks: Iterable[Task]) -> JobState:
    """Raise `NewerVersion` if a task ended in a way that only a newer version knows."""
    states = {task.state for task in tasks}
    if TaskState.UNKNOWN in states:
        raise NewerVersion("one of its tasks is in a state of a newer version")
    if TaskState.CANCELLED in states:
        return JobState.CANCELLED
    if any(state.failure for state in states):
        return JobState.FAILED
    return JobState.COMPLETED
