"""Liveness: whatever was stored, the job ends, even if all that was not stored is lost.

From every database that a run can leave behind, all processes are taken to die and all messages
to be lost. Then nothing fails any more: the sweeper finds what is due, workers complete what they
claim, messages arrive. The job has to end, with every task settled and nothing due. The hourly
audit of open jobs is left out: due times alone have to do it.

What is checked is that the end stays reachable: for each database one schedule without faults that
leads to it. A process that lives on can only finish what it has begun, which leads to another
database that is checked, and further messages only allow more steps. So a run in which every step
that stays possible is taken at some time ends, if its faults do.
"""

from collections import deque
from collections.abc import Callable, Iterator
from typing import Final

from switchyard.domain.states import TaskState
from tests.model import changes, fan_outs, sweeper
from tests.model.database import Database, Draft, Wake
from tests.model.functions import Todo, carry_out
from tests.model.workers import Habits, Worker
from tests.model.workers import steps as worker_steps

ROUNDS: Final = 12
"""A chain of two tasks that is cancelled or redriven needs fewer."""
WELL: Final = Habits(outcomes=(TaskState.COMPLETED,))


class Recovery:
    def __init__(self, draft: Callable[[Database], Draft]) -> None:
        self._draft = draft
        self._known: set[Database] = set()

    def problem_with(self, database: Database) -> str | None:
        """Say why the job would not end; `None` if it does."""
        draft = self._draft(database)
        passed = [database]
        for _ in range(ROUNDS):
            before = passed[-1]
            for _ in _round(draft):
                if draft.problems:
                    return f"{draft.problems[0]}, after everything under way was lost"
                now = Database(draft.job, tuple(draft.tasks), tuple(draft.dependents))
                if now != passed[-1]:
                    passed.append(now)
                if now in self._known or has_ended(draft):
                    self._known.update(passed)
                    return None
            if passed[-1] == before:
                break
        return f"I1: never ends once everything under way is lost: {_left(draft)}"


def _round(draft: Draft) -> Iterator[None]:
    """Let the sweeper look at everything once, and every message arrive once."""
    yield
    for nudge in sweeper.found(draft):
        audit = isinstance(nudge, sweeper.NudgeJob) and changes.is_quiet(nudge.job)
        if not audit:
            _finish((nudge,), draft)
    handled: set[Wake] = set()
    waiting = deque(draft.sent)
    draft.sent.clear()
    while waiting:
        wake = waiting.popleft()
        if wake not in handled:
            handled.add(wake)
            _deliver(wake, draft)
            waiting.extend(draft.sent)
            draft.sent.clear()
            yield
    yield  # a nudge that sends no message has changed something, too


def _deliver(wake: Wake, draft: Draft) -> None:
    queue, name, run, by_event = wake
    if queue == "tasks":
        _work(name, draft)
    elif queue == "dispatch":
        _finish(fan_outs.dispatched(name, run, draft, by_event=by_event), draft)
    else:
        _finish(changes.advanced(draft), draft)


def _finish(todo: Todo, draft: Draft) -> None:
    while todo:
        todo = carry_out(todo, draft)


def has_ended(draft: Draft) -> bool:
    """A redrive that is not over yet is ended by whoever asks for the next one."""
    tasks = [task for task in draft.known if draft.may_run(task)]
    emitted = all(task.state.settled and task.due_at_ms is None for task in tasks)
    return draft.job.state.settled and emitted


def _work(name: str, draft: Draft) -> None:
    """Receive, claim and end a task, on a clock that is late; the last thing a worker can do."""
    worker: Worker = None
    for _ in range(3):
        steps = dict(worker_steps(worker, draft, WELL, [name]))
        worker = list(steps.values())[-1](draft) if worker is None else _end(steps, draft)
        if worker is None:
            return


def _end(steps: dict[str, Callable[[Draft], Worker]], draft: Draft) -> Worker:
    ends = [text for text in steps if text.startswith(("settles", "gives"))]
    return steps[ends[-1]](draft)


def _left(draft: Draft) -> str:
    tasks = ", ".join(f"{task.ref.task_id} is {task.state}" for task in draft.known)
    return f"the job is {draft.job.state}, {tasks}"
