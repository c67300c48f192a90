"""What the checker calls a task that went before its parent, where a job has several runs."""

from types import SimpleNamespace
from typing import Any, cast

from switchyard.domain.ids import END
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Task
from tests.builders import JOB, a_task
from tests.simulation.checker import started_too_early
from tests.simulation.checks.history import History, Version

LATE = "late"


def versions_of(task_id: str, *versions: tuple[int, TaskState, int]) -> list[Version]:
    """Each version is the number of its write, the state and the run."""
    made: list[Version] = []
    before: Task | None = None
    for number, state, run in versions:
        new = a_task(task_id, state=state, run=run)
        made.append(Version(number, float(number), "nobody", before, new))
        before = new
    return made


def found(end: list[Version], late: list[Version]) -> list[str]:
    """Check a job in which `late` was added as a parent of the end."""
    nothing: Any = SimpleNamespace(state="state", dynamodb=SimpleNamespace(on_change=[]))
    history = History(cast("Any", None), nothing)
    history.tasks[JOB.task(END)] = end
    history.tasks[JOB.task(LATE)] = late
    history._parents[JOB.task(END)].add(JOB.task(LATE))
    return list(started_too_early(history))


TWO_RUNS = (
    (1, TaskState.WAITING, 1),
    (2, TaskState.COMPLETED, 1),
    (3, TaskState.WAITING, 2),
)


def test_a_task_added_in_the_second_run_is_not_held_against_what_the_first_decided() -> None:
    end = versions_of(END, *TWO_RUNS, (6, TaskState.COMPLETED, 2))
    late = versions_of(LATE, (4, TaskState.QUEUED, 1), (5, TaskState.COMPLETED, 1))
    assert found(end, late) == []


def test_a_task_added_in_the_second_run_is_held_against_what_the_second_decided() -> None:
    end = versions_of(END, *TWO_RUNS, (5, TaskState.COMPLETED, 2))
    late = versions_of(LATE, (4, TaskState.QUEUED, 1), (6, TaskState.COMPLETED, 1))
    assert len(found(end, late)) == 1


def test_a_task_added_to_a_run_that_was_decided_is_a_violation() -> None:
    late = versions_of(LATE, (3, TaskState.QUEUED, 1), (4, TaskState.COMPLETED, 1))
    assert len(found(versions_of(END, *TWO_RUNS[:2]), late)) == 1
    reopened_later = versions_of(END, *TWO_RUNS[:2], (5, TaskState.WAITING, 2))
    assert len(found(reopened_later, late)) == 1
