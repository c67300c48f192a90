"""Every step that any process can take in a state. What was worked out once is looked up.

A state is a tuple of numbers: the database, each worker, each function. Workers are alike, and so
are functions: their numbers are sorted.

No message is part of a state. Any may arrive at any time, and any number of times, whether it was
sent or not: lost, doubled, late and reordered messages are all among that. A direct wake-up does
all that an event does, and one of another run does nothing, so that one wake-up for each task
stands for all. `recovery.py` checks what happens when every message is lost.
"""

from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import partial
from typing import Final, Generic, TypeVar

from switchyard.domain.jobs.job import Job
from switchyard.domain.states import JobState, TaskState
from switchyard.domain.tasks.task import Task
from tests.model import additions, changes, fan_outs, invariants, redrives, sweeper
from tests.model.configurations import Configuration
from tests.model.database import Database, Draft, Mutation
from tests.model.functions import Operation, Todo, carry_out
from tests.model.recovery import Recovery
from tests.model.workers import Ended, Running, Worker
from tests.model.workers import steps as worker_steps

State = tuple[int, ...]
Move = tuple[int, int, str | None]
"""The database and the process afterwards, and a promise that was broken."""

T = TypeVar("T")
IDLE: Final = 0


class Numbers(Generic[T]):
    """Gives each value a number, the same for equal ones."""

    def __init__(self) -> None:
        self.values: list[T] = []
        self._numbers: dict[T, int] = {}

    def of(self, value: T) -> int:
        number = self._numbers.get(value)
        if number is None:
            number = self._numbers[value] = len(self.values)
            self.values.append(value)
        return number


class World:
    def __init__(self, configuration: Configuration, mutate: Mutation = lambda one: one) -> None:
        self.configuration = configuration
        names, initial = configuration.initial()
        self._names = {name: place for place, name in enumerate(names)}
        self._mutate = mutate
        self._databases: Numbers[Database] = Numbers()
        self._problems: list[str | None] = []
        self._workers: Numbers[Worker] = Numbers()
        self._todos: Numbers[Todo] = Numbers()
        self._worker_moves: dict[tuple[int, int], tuple[Move, ...]] = {}
        self._function_moves: dict[tuple[int, int], tuple[Move, ...]] = {}
        self._recovery = Recovery(self._draft)
        assert self._workers.of(None) == IDLE == self._todos.of(())
        database = self._number(initial)
        processes = configuration.workers + configuration.functions
        self.first: State = (database, *[IDLE] * processes)

    @property
    def databases(self) -> int:
        return len(self._databases.values)

    def problem_of(self, database: int) -> str | None:
        return self._problems[database]

    def moves_of_worker(self, database: int, worker: int) -> tuple[Move, ...]:
        moves = self._worker_moves.get((database, worker))
        if moves is None:
            steps = self.worker_steps(database, worker)
            moves = self._moves(database, worker, steps, self._workers)
            self._worker_moves[database, worker] = moves
        return moves

    def moves_of_function(self, database: int, todo: int) -> tuple[Move, ...]:
        moves = self._function_moves.get((database, todo))
        if moves is None:
            steps = self.function_steps(database, todo)
            moves = self._moves(database, todo, steps, self._todos)
            self._function_moves[database, todo] = moves
        return moves

    def split(self, state: State) -> tuple[int, State, State]:
        """Tell apart the database, the workers and the functions."""
        end = 1 + self.configuration.workers
        return state[0], state[1:end], state[end:]

    def told_steps(self, state: State) -> Iterator[tuple[str, State, str | None]]:
        """Put every step in words, with the state it leads to and the promise it breaks."""
        database, workers, functions = self.split(state)
        for place, worker in enumerate(workers):
            others = workers[:place] + workers[place + 1 :]
            name = self._named(self._workers.values[worker])
            for text, step in self.worker_steps(database, worker):
                now, after, problem = self.outcome(database, step)
                processes = (*sorted((*others, self._workers.of(after))), *functions)
                emitted = self._emitted(f"a worker {name} {text}", database, now)
                yield emitted, (now, *processes), problem
        for place, todo in enumerate(functions):
            others = functions[:place] + functions[place + 1 :]
            for text, begin in self.function_steps(database, todo):
                now, left, problem = self.outcome(database, begin)
                processes = (*workers, *sorted((*others, self._todos.of(left))))
                emitted = self._emitted(f"a function {text}", database, now)
                yield emitted, (now, *processes), problem

    def _emitted(self, text: str, before: int, after: int) -> str:
        """Add what a step changed in the database."""
        old, new = self._databases.values[before], self._databases.values[after]
        pairs = [("job", old.job, new.job)]
        tasks = zip(self._names, old.tasks, new.tasks, strict=True)
        changed = [told_change(*one) for one in (*pairs, *tasks) if one[1] != one[2]]
        return f"{text}; {'; '.join(changed)}" if changed else text

    def _named(self, worker: Worker) -> str:
        return "that is idle" if worker is None else f"at {lease_of(worker)}"

    def worker_steps(
        self, database: int, worker: int
    ) -> Iterator[tuple[str, Callable[[Draft], Worker]]]:
        draft = self._draft(self._databases.values[database])
        messages = [task.ref.task_id for task in draft.known if not task.ref.hidden]
        habits = self.configuration.habits
        return worker_steps(self._workers.values[worker], draft, habits, messages)

    def function_steps(
        self, database: int, todo: int
    ) -> Iterator[tuple[str, Callable[[Draft], Todo]]]:
        if todo != IDLE:
            left = self._todos.values[todo]
            yield "dies", lambda _: ()
            yield f"goes on with {told_operation(left[0])}", partial(carry_out, left)
            return
        for task in self._databases.values[database].tasks:
            if task is not None:
                name, run = task.ref.task_id, task.run
                dispatched = partial(fan_outs.dispatched, name, run, by_event=False)
                yield f"is woken for {name} in run {run}", dispatched
        yield "is woken for the job", changes.advanced
        if self.configuration.sweeper_pauses:
            yield from self._sweeps(database)
        yield from self._requests(database)

    def _sweeps(self, database: int) -> Iterator[tuple[str, Callable[[Draft], Todo]]]:
        """A sweeper that does not pause only sends messages, which arrive in any case."""
        for nudge in sweeper.found(self._draft(self._databases.values[database])):
            yield f"reads that something is due: {told_operation(nudge)}", _just((nudge,))

    def _requests(self, database: int) -> Iterator[tuple[str, Callable[[Draft], Todo]]]:
        """What people may ask for; who is refused at once changes nothing and is left out.

        That a redriven job is not cancelled is left to the guard, though it is looked at before.
        """
        asked, job = self.configuration, self._databases.values[database].job
        under_way = job.state is JobState.OPEN
        if asked.cancels_job and under_way:
            yield "is asked to cancel the job", _just((changes.BeginCancel(job),))
        if asked.cancels_tasks and under_way and not job.redrive_key:
            for task in self._databases.values[database].tasks:
                if task is not None and not (task.ref.hidden or task.state.settled):
                    cancel = _just((changes.CancelTask(task),))
                    yield f"is asked to cancel {task.ref.task_id}", cancel
        if asked.decides:
            yield from self._decisions(database)
        if job.run < asked.last_run:
            yield from self._redrives()
        if asked.adds:
            add = partial(additions.requested, "a", asked.attempts)
            yield f"is asked to add {additions.ADDED}", add

    def _redrives(self) -> Iterator[tuple[str, Callable[[Draft], Todo]]]:
        yield "is asked to redrive the job", redrives.requested
        again = self.configuration.again
        if again:
            run_again = partial(redrives.requested, again=again)
            yield f"is asked to run {', '.join(again)} again", run_again

    def _decisions(self, database: int) -> Iterator[tuple[str, Callable[[Draft], Todo]]]:
        for task in self._databases.values[database].tasks:
            if task is not None and task.state is TaskState.HELD:
                for word, approved in (("approve", True), ("reject", False)):
                    decide = _just((changes.DecideTask(task, approved),))
                    yield f"is asked to {word} {task.ref.task_id}", decide

    def outcome(self, database: int, step: Callable[[Draft], T]) -> tuple[int, T, str | None]:
        """Take a step; return the database, what the process does next and a broken promise."""
        draft = self._draft(self._databases.values[database])
        after = step(draft)
        number = self._number(_database(draft))
        problem = draft.problems[0] if draft.problems else self._problems[number]
        return number, after, problem

    def _moves(
        self,
        database: int,
        process: int,
        steps: Iterator[tuple[str, Callable[[Draft], T]]],
        numbers: Numbers[T],
    ) -> tuple[Move, ...]:
        """Leave out what changes nothing, and what two steps have in common."""
        moves: dict[Move, None] = {}
        for _, step in steps:
            number, after, problem = self.outcome(database, step)
            move = (number, numbers.of(after), problem)
            if move != (database, process, None):
                moves[move] = None
        return tuple(moves)

    def _draft(self, database: Database) -> Draft:
        return Draft(
            names=self._names,
            job=database.job,
            tasks=list(database.tasks),
            dependents=list(database.dependents),
            clocks=self.configuration.clocks,
            mutate=self._mutate,
            may_run_again=bool(self.configuration.again),
        )

    def _number(self, database: Database) -> int:
        """A database that was not seen before is checked."""
        number = self._databases.of(database)
        if number == len(self._problems):
            draft = self._draft(database)
            known = list(draft.known)
            parents = [draft.parents_of(task.ref.task_id) for task in known]
            broken = next(invariants.broken_in(database.job, known, parents), None)
            self._problems.append(broken or self._recovery.problem_with(database))
        return number


def lease_of(worker: Worker) -> str:
    """Say which attempt a worker is at."""
    if isinstance(worker, Running | Ended):
        return f"{worker.lease.ref.task_id} under fence {worker.lease.fence}"
    return f"{worker.task.ref.task_id} as read under fence {worker.task.fence}" if worker else ""


def told_change(name: str, old: Task | Job | None, new: Task | Job | None) -> str:
    """Say which fields of an item a step changed."""
    if old is None or new is None:
        return f"{name} is new"
    both = [(one.name, getattr(old, one.name), getattr(new, one.name)) for one in fields(new)]
    changed = (f"{field} = {_word(now)}" for field, before, now in both if before != now)
    return f"{name}: {', '.join(changed)}"


def _word(value: object) -> str:
    if isinstance(value, frozenset):
        return "{" + ", ".join(sorted(value)) + "}"
    return str(getattr(value, "state", value)) if value is not None else "none"


def told_operation(operation: Operation) -> str:
    """Name an operation and the task that it is about, as the function has read it."""
    values = [getattr(operation, one.name) for one in fields(operation)]  # type: ignore[arg-type]
    read = [one for one in values if isinstance(one, Task | Job)]
    about = ", ".join(
        f"{getattr(one.ref, 'task_id', 'job')} {one.state} in run {one.run}" for one in read
    )
    return f"{type(operation).__name__}({about})"


def _just(todo: Todo) -> Callable[[Draft], Todo]:
    return lambda _: todo


def _database(draft: Draft) -> Database:
    return Database(draft.job, tuple(draft.tasks), tuple(draft.dependents))
