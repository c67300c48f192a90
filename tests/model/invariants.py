"""What must hold of every stored state, and of every write. The numbers are those of the promises.

- I1  every accepted task reaches one terminal state: a job ends when its tasks have (`recovery.py`
      checks that it does)
- I2  one accepted completion per task
- I3  terminal is for ever within a run; only a redrive opens the next
- I4  who does not hold the lease changes nothing that its holder decides
- I5  attempts stay within their maximum, and what is given up as exhausted has used them
- I6  a task starts when all it waits for has settled, once per attempt, and not once it is flagged
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from switchyard.domain.fan_out.earlier_items import has_left_the_list
from switchyard.domain.fan_out.plan import start_of
from switchyard.domain.ids import END, makers_of
from switchyard.domain.jobs.job import Job, decide_job_outcome
from switchyard.domain.states import JobState, Rule, TaskKind, TaskState
from switchyard.domain.tasks.claim_refusals import EXHAUSTED
from switchyard.domain.tasks.task import Task

UNDER_WAY: Final = (TaskState.READY, TaskState.QUEUED, TaskState.PROCESSING, TaskState.HELD)
BY_THE_OWNER: Final = ("renew", "settle", "release")


@dataclass(frozen=True, slots=True)
class Change:
    """One write to a task, with what the writer's clock showed and the parents at that moment."""

    transition: str
    old: Task
    new: Task
    now: int
    owner: str
    parents: tuple[Task, ...]
    may_run_again: bool = False
    """Whether somebody may have asked for completed tasks to run again."""

    @property
    def lease_is_live(self) -> bool:
        return self.old.state is TaskState.PROCESSING and self.old.lease_until_ms >= self.now

    def __str__(self) -> str:
        return f"{self.old.ref.task_id}: {self.old.state} to {self.new.state} by {self.transition}"


def broken_by(change: Change) -> Iterator[str]:
    """Name each promise that a write breaks."""
    checks = (
        ("I2", _completed_again(change)),
        ("I3", _changed_after_its_end(change)),
        ("I3", _opened_again_wrongly(change)),
        ("I4", _changed_by_another(change)),
        ("I4", _taken_from_its_owner(change)),
        ("I5", _given_up_too_early(change)),
        ("I6", _claimed_wrongly(change)),
        ("I6", _decided_wrongly(change)),
        ("I6", _shortened(change)),
    )
    return (f"{name}: {text} ({change})" for name, text in checks if text)


def broken_by_job(transition: str, old: Job, new: Job) -> Iterator[str]:
    """Name each promise that a write to a job breaks."""
    if old.state.settled and new.state is not old.state and transition != "begin_redrive":
        yield f"I3: the job was {old.state} and became {new.state} by {transition}"
    if new.run != old.run and old.state is not JobState.REDRIVING:
        yield f"I3: the job began run {new.run} while it was {old.state}"
    if old.failed_task_id and old.run == new.run and new.failed_task_id != old.failed_task_id:
        yield f"I3: {old.failed_task_id} failed first, and now {new.failed_task_id} did"
    if transition == "add_tasks" and (old.state is not JobState.OPEN or old.cancel_requested):
        yield f"I6: tasks were added while the job was {old.state}"


def broken_in(job: Job, tasks: Sequence[Task], parents: Sequence[Sequence[Task]]) -> Iterator[str]:
    """Name each promise that a stored state breaks; `parents` are those of each task."""
    for task, before in zip(tasks, parents, strict=True):
        if not 0 <= task.attempt <= task.max_attempts:
            yield f"I5: {task.ref.task_id} is at attempt {task.attempt} of {task.max_attempts}"
        if task.state in UNDER_WAY and not all(parent.state.settled for parent in before):
            yield f"I6: {task.ref.task_id} is {task.state} before its parents have settled"
    if job.state.settled:
        yield from _ended_wrongly(job, tasks)
    noted = job.failure_detected_at_ms is not None and job.state is not JobState.REDRIVING
    if noted and not any(task.state.failure and not task.tolerated for task in tasks):
        yield "I4: the job notes a failure of an earlier run, or one that is tolerated"
    yield from _fanned_out_wrongly(tasks)


def is_of_earlier_list(task: Task, tasks: Sequence[Task]) -> bool:
    """Tell whether its fan-out has another list now, in which it is not, or not yet."""
    names = makers_of(task.ref.task_id)
    owner = next((one for one in tasks if one.ref.task_id in names and one.fans_out), None)
    if owner is None:
        return False
    if task.ref.hidden:
        return task.ref != start_of(owner)
    return task.run < owner.first_item_run or has_left_the_list(task)


def _fanned_out_wrongly(tasks: Sequence[Task]) -> Iterator[str]:
    """A fan-out settles after all its items, and none runs before all of them are written."""
    fan_outs = {task.ref.task_id: task for task in tasks if task.fans_out}
    for task in tasks:
        owner = fan_outs.get(task.ref.fan_out or "")
        if owner is None or is_of_earlier_list(task, tasks):
            continue
        if owner.child_count is None and task.state is not TaskState.WAITING:
            yield f"I6: {task.ref.task_id} is {task.state} before all items are written"
        if owner.child_count is not None and owner.state.settled and not task.state.settled:
            yield f"I1: {owner.ref.task_id} is {owner.state}, and {task.ref.task_id} {task.state}"
    for owner in fan_outs.values():
        yield from _gathered_wrongly(owner, tasks)


def _gathered_wrongly(owner: Task, tasks: Sequence[Task]) -> Iterator[str]:
    name = owner.ref.task_id
    items = [
        task for task in tasks if task.ref.fan_out == name and not is_of_earlier_list(task, tasks)
    ]
    if owner.child_count is not None and owner.child_count != len(items):
        yield f"I1: {name} has {len(items)} items and not {owner.child_count}"
    nested = owner.kind is TaskKind.JOB
    no_loss = {TaskState.COMPLETED, *([TaskState.SKIPPED] if nested else [])}
    lost, tolerated = sum(task.state not in no_loss for task in items), 0 if nested else 1
    if owner.state is TaskState.COMPLETED and lost > tolerated:
        yield f"I2: {name} completed, and {lost} of its items did not"
    if owner.state is TaskState.FAILED and owner.child_count is not None and lost <= tolerated:
        yield f"I2: {name} failed, and only {lost} of its items did not complete"


def _ended_wrongly(job: Job, tasks: Sequence[Task]) -> Iterator[str]:
    written = {task.ref.task_id for task in tasks if task.fans_out and task.child_count is None}
    for task in tasks:
        unopened = not written.isdisjoint(makers_of(task.ref.task_id))
        left = unopened or is_of_earlier_list(task, tasks)
        if not (task.state.settled or left):
            yield f"I1: the job is {job.state}, and {task.ref.task_id} is {task.state}"
    declared = [task for task in tasks if not (task.ref.hidden or task.ref.fan_out)]
    outcome = decide_job_outcome({task.state for task in declared})
    if outcome is not job.state:
        yield f"I1: the job is {job.state}, and its tasks say {outcome}"


def _completed_again(change: Change) -> str | None:
    done = TaskState.COMPLETED
    again = change.old.state is done is change.new.state and change.old.outcome is not None
    same_outcome = change.old.outcome == change.new.outcome
    return "completed twice" if again and not same_outcome else None


def _changed_after_its_end(change: Change) -> str | None:
    old, new = change.old, change.new
    if not old.state.settled or old.run != new.run:
        return None
    if replace(old, due_at_ms=new.due_at_ms) != new:
        return "changed after its end"
    if old.due_at_ms is None and new.due_at_ms is not None:
        return "followed to its end, and due again"
    return None


def _opened_again_wrongly(change: Change) -> str | None:
    old, new = change.old, change.new
    if old.run == new.run:
        return None
    if change.transition in ("replace_item", "drop_item"):
        return _made_anew_wrongly(old, new)
    if not old.state.settled or change.transition != "reopen":
        return "begins a run before the last has ended"
    stays = not (old.ref.task_id == END or old.fans_out or change.may_run_again)
    if old.state is TaskState.COMPLETED and stays:
        return "had completed, and is run again"
    if (new.run, new.fence, new.attempt) != (old.run + 1, old.fence + 1, 0):
        return "does not begin the next run"
    return None


def _made_anew_wrongly(old: Task, new: Task) -> str | None:
    """An item of an earlier list has settled, or was never opened."""
    unopened = old.state is TaskState.WAITING and bool(old.waiting_on)
    if not (old.state.settled or unopened):
        return "made anew while somebody is at it"
    later = (new.run > old.run, new.fence, new.attempt) == (True, old.fence + 1, 0)
    return None if later else "does not begin another run"


def _changed_by_another(change: Change) -> str | None:
    old, new = change.old, change.new
    if new.fence < old.fence:
        return "the fence went back"
    if change.transition in BY_THE_OWNER:
        held = old.state is TaskState.PROCESSING and old.owner == change.owner
        return None if held else "changed by one who does not hold the lease"
    unfenced = old.fence == new.fence and _decided(old) != _decided(new)
    return "changed by another under the owner's fence" if unfenced else None


def _taken_from_its_owner(change: Change) -> str | None:
    if change.old.state is not TaskState.PROCESSING or change.transition in BY_THE_OWNER:
        return None
    left = (change.new.state, change.new.owner, change.new.fence) != (
        change.old.state,
        change.old.owner,
        change.old.fence,
    )
    may = change.transition in ("claim", "give_up") and not change.lease_is_live
    return "taken from its owner while the lease is live" if left and not may else None


def _given_up_too_early(change: Change) -> str | None:
    outcome = change.new.outcome
    if change.transition != "give_up" or outcome is None or outcome.error_category != EXHAUSTED:
        return None
    left = change.old.attempt < change.old.max_attempts
    return "given up as exhausted with attempts left" if left else None


def _claimed_wrongly(change: Change) -> str | None:
    old, new = change.old, change.new
    if change.transition != "claim":
        return None
    if (new.fence, new.attempt) != (old.fence + 1, old.attempt + 1):
        return "claimed twice in one attempt"
    if old.cancel_requested:
        return "claimed though it is flagged"
    if old.state not in UNDER_WAY or old.kind is not None:
        return "claimed though nobody may run it"
    early = old.state is not TaskState.PROCESSING and old.not_before_ms > change.now
    return "claimed before its time" if early else None


def _decided_wrongly(change: Change) -> str | None:
    old, new = change.old, change.new
    if old.state is not TaskState.WAITING or new.state is TaskState.WAITING:
        return None
    if change.transition == "drop_item":  # which `_made_anew_wrongly` looks at
        return None
    if old.waiting_on or not all(parent.state.settled for parent in change.parents):
        return "decided before its parents have settled"
    if old.cancel_requested and new.state is TaskState.READY:
        return "ready though it is flagged"
    if old.child_count is not None:
        skipped = new.state is TaskState.SKIPPED
        return "skipped though its items were made" if skipped else None
    if old.rule is not Rule.ALL_COMPLETED:
        return None
    completed = all(parent.state is TaskState.COMPLETED for parent in change.parents)
    if new.state is TaskState.READY and not completed:
        return "ready though a parent did not complete"
    skipped = new.state is TaskState.SKIPPED and completed
    return "skipped though its parents completed" if skipped else None


def _shortened(change: Change) -> str | None:
    shorter = change.new.lease_until_ms < change.old.lease_until_ms
    return "the lease was shortened" if change.transition == "renew" and shorter else None


def _decided(task: Task) -> tuple[object, ...]:
    return (task.state, task.owner, task.lease_until_ms, task.attempt, task.outcome)
