"""What one version of a task says, for those who look back at a history."""

from switchyard.domain.ids import TaskRef
from switchyard.domain.states import TaskState
from tests.simulation.checks.history import Version


def became(version: Version, state: TaskState) -> bool:
    before = version.old.state if version.old else None
    return version.new.state is state and before is not state


def left_waiting(version: Version) -> bool:
    """Find tasks that were left waiting without a redrive, which changes the run."""
    if version.old is None or version.old.run != version.new.run:
        return False
    return version.old.state is TaskState.WAITING and version.new.state is not TaskState.WAITING


def is_claim(version: Version) -> bool:
    """Whether a worker claimed the task, for the first time or from another worker."""
    if version.new.state is not TaskState.PROCESSING:
        return False
    return version.old is None or version.old.owner != version.new.owner


def is_the_owners(version: Version) -> bool:
    owner = version.old.owner if version.old else None
    return (owner or "").startswith(f"{version.by}/")


def named(task: TaskRef) -> str:
    return f"{task.job_id[-4:]}/{task.task_id}"


def report(versions: list[Version]) -> str:
    return "; ".join(
        f"{v.at:.3f} s by {v.by}: {v.old.state if v.old else 'nothing'} → {v.new.state}"
        f" (fence {v.new.fence}, attempt {v.new.attempt}, owner {v.new.owner})"
        for v in versions
    )
