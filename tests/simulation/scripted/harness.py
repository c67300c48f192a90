"""A harness whose tasks end as a script says, so that a reference can tell how its jobs must
end."""

import random
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from switchyard.contracts.jobs import SubmitJob
from switchyard.domain.fan_out.earlier_items import has_left_the_list
from switchyard.domain.ids import JobRef, TaskRef
from switchyard.domain.jobs.job import Job
from switchyard.domain.states import JobState, TaskState
from switchyard.domain.tasks.task import Task
from tests.simulation.checks.epochs import Epoch, Epochs
from tests.simulation.harness import STORM_SECONDS, Harness
from tests.simulation.held import Held
from tests.simulation.jobs import TENANTS, submission
from tests.simulation.reference import (
    Declared,
    Reopening,
    ends,
    everything,
    outcome,
    reopened,
)
from tests.simulation.script import items_of
from tests.simulation.scripted.changes import Change
from tests.simulation.scripted.held import with_held
from tests.simulation.scripted.people import People
from tests.simulation.scripted.shapes import job_of
from tests.simulation.scripted.workers import Hands
from tests.simulation.weather import CALM, Weather

PATIENCE_SECONDS: Final = 60.0
LATEST_CHANGE: Final = 150.0
ENDS: Final = (TaskState.FAILED, TaskState.TIMED_OUT)


class ScriptedHarness(Harness):
    def __init__(self, seed: int, *, failing: float, weather: Weather | None = None) -> None:
        super().__init__(seed, workers=0, weather=weather)
        self._seed = seed
        self._failing = failing
        self.epochs = Epochs(self.cloud, self.history)
        self._declared: defaultdict[str, dict[str, Declared]] = defaultdict(dict)
        """By the job's name, then by the task's id: all that was ever asked for."""
        self._selected: defaultdict[JobRef, dict[int, frozenset[str]]] = defaultdict(dict)
        """What was to be redriven, by the job's run that it was asked in."""
        self._to_be_cancelled: set[JobRef | TaskRef] = set()
        People(self.cloud, self.history, self.invocations, self._held).start()
        Hands(
            self.cloud.tasks,
            self.invocations,
            lambda task: self.ending(task.ref.task_id, task.run),
            self.children,
        ).start()

    def ending(self, task_id: str, run: int) -> TaskState:
        """The same whoever asks, and whenever; another in each run."""
        dice = random.Random(f"{self._seed}/{task_id}/{run}")
        if dice.random() < self._failing / run:
            return dice.choice(ENDS)
        return TaskState.COMPLETED

    def submit_declared(self, tasks: Sequence[Declared]) -> None:
        name = f"job-{self.world.number('job')}"
        tasks = with_held(self.dice, tasks, {})
        self._declared[name] = {task.task_id: task for task in tasks}
        self._submit(name, job_of(tasks, name=name))

    def run_with(self, changes: Sequence[Change]) -> None:
        """Changes in the storm, and what was to be redriven once more in the calm after it."""
        for change in changes:
            if change is Change.REDRIVE:
                self.world.after(self.dice.uniform(0, STORM_SECONDS), self._insist_on_redrive)
            else:
                self.world.after(self.dice.uniform(0, LATEST_CHANGE), self.change, change)
        redrives = changes.count(Change.REDRIVE)
        self.run(jobs=0, storm_seconds=STORM_SECONDS * (1 + bool(redrives)))
        for _ in range(redrives):
            self.change_in_calm(Change.REDRIVE)

    def _insist_on_redrive(self) -> None:
        """A redrive is refused until the job is settled and its events are emitted."""
        if self.cloud.weather is CALM or any(job.run > 1 for job in self.history.jobs.values()):
            return
        self.change(Change.REDRIVE)
        self.world.after(PATIENCE_SECONDS, self._insist_on_redrive)

    def _submit(self, name: str, request: SubmitJob) -> None:
        """Submit the job under the same key until it is known to be accepted."""
        if name in self._accepted():
            return
        self.invocations.invoke("api", submission(TENANTS[0], request, self.dice, key=name))
        self.world.after(PATIENCE_SECONDS, self._submit, name, request)

    def _accepted(self) -> set[str]:
        jobs = self.history.jobs.values()
        return {job.name for job in jobs if job.state is not JobState.WRITING}

    def _is_quiet(self) -> bool:
        return self._accepted() == self._declared.keys() and super()._is_quiet()

    def newcomers(self, job: Job) -> list[Declared]:
        tasks = with_held(self.dice, super().newcomers(job), self._declared[job.name])
        self._declared[job.name] |= {task.task_id: task for task in tasks}
        return tasks

    def selection(self, job: Job) -> frozenset[str]:
        """The same for all who ask in one run of the job: who is first does not matter."""
        if not job.state.settled:
            return frozenset()
        return self._selected[job.ref].setdefault(job.run, super().selection(job))

    def to_cancel(self, what: JobRef | TaskRef) -> None:
        self._to_be_cancelled.add(what)

    def differences(self) -> Iterator[str]:
        """What the reference says otherwise, for every end that a job came to."""
        for ref, epochs in self.epochs.of.items():
            before: Epoch | None = None
            for epoch in epochs:
                for difference in self._compared(ref, before, epoch):
                    yield f"{ref.job_id}, run {epoch.run}: {difference}"
                before = epoch

    def _compared(self, ref: JobRef, before: Epoch | None, epoch: Epoch) -> Iterator[str]:
        declared = self._declared[self.history.jobs[ref].name]
        tasks = [declared[name] for name in epoch.tasks if name in declared]
        yield from self._compared_items(declared, epoch)
        yield from self._compared_decisions(declared, epoch)
        expected = ends(
            tasks,
            verdicts={name: self._verdict(task) for name, task in epoch.tasks.items()},
            items=epoch.items,
            approved={
                name: held.approved(task.decision)
                for name, task in epoch.tasks.items()
                if (held := self._held(task))
            },
            cancelled=self._cancelled(ref, epoch),
            before=_states(before, declared) if before else None,
            reopening=self._reopening(ref, declared, before) if before else None,
        )
        for name, state in _states(epoch, declared).items():
            if state is not expected.get(name, state):
                yield f"{name} is {state.value}, and should be {expected[name].value}"
        end = outcome({name: expected[name] for name in epoch.declared_states})
        if epoch.outcome is not end:
            yield f"the job is {epoch.outcome.value}, and should be {end.value}"

    def _compared_items(self, declared: dict[str, Declared], epoch: Epoch) -> Iterator[str]:
        """What a fan-out has made: one for each item, each ended as scripted or cancelled."""
        for name, task in epoch.tasks.items():
            ref = task.ref
            ends_in = {self._verdict(task), TaskState.CANCELLED}
            is_item = ref.fan_out and not declared[ref.fan_out].inner
            if is_item and task.state not in ends_in and not has_left_the_list(task):
                yield f"{name} is {task.state.value}, and should be in {ends_in}"
        for name, found in epoch.items.items():
            inner, listed = declared[name].inner, declared[name].list_of or ""
            if listed and declared[listed].inner:
                listed = declared[listed].inner[0].task_id  # whose list is in its output
            parent = epoch.tasks.get(listed)
            made = len(items_of(parent.ref, parent.run) if parent else inner)
            if len(found) != made:
                yield f"{name} has {len(found)} items, and should have {made}"

    def _compared_decisions(self, declared: dict[str, Declared], epoch: Epoch) -> Iterator[str]:
        """Compare who ended a held task: one of those who answered, or time if it has an end."""
        for name, task in epoch.tasks.items():
            held = declared[name].held if name in declared else None
            if held and task.attempt:
                yield f"{name} was run by a worker"
            ended = held and task.held_until_ms and task.state is not TaskState.CANCELLED
            problem = held.problem_with(task.decision) if held and ended else None
            if problem:
                yield f"{name} {problem}"

    def _held(self, task: Task) -> Held | None:
        job = self.history.jobs[task.ref.job]
        declared = self._declared[job.name].get(task.ref.task_id)
        return declared.held if declared else None

    def _verdict(self, task: Task) -> TaskState:
        """Expect what was scripted, unless the weather took all its attempts."""
        held = self._held(task)
        if held:
            return held.end(task.decision)
        if task.state is TaskState.FAILED and task.attempt >= task.max_attempts:
            return TaskState.FAILED
        return self.ending(task.ref.task_id, task.run)

    def _cancelled(self, ref: JobRef, epoch: Epoch) -> Collection[str]:
        """Whether a task that is to be cancelled runs to its end is a matter of time."""
        return {
            name
            for name, state in epoch.states.items()
            if state is TaskState.CANCELLED
            and self._to_be_cancelled.intersection({ref, ref.task(name)})
        }

    def _reopening(self, ref: JobRef, declared: dict[str, Declared], before: Epoch) -> Reopening:
        tasks = [declared[name] for name in before.tasks if name in declared]
        states = _states(before, declared)
        return reopened(tasks, states, self._selected[ref].get(before.run, frozenset()))


def _states(epoch: Epoch, declared: dict[str, Declared]) -> dict[str, TaskState]:
    """Return those of all tasks but the items of fan-outs, which stand for them."""
    known = {task.task_id for task in everything(declared.values())}
    return {name: state for name, state in epoch.states.items() if name in known}
