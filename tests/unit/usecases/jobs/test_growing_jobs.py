"""Jobs that grow while they run, in any order, end as if they had been whole from the beginning."""

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from switchyard.domain.errors import Conflict, MissingBlob
from switchyard.domain.ids import END, TaskRef
from switchyard.domain.jobs.relays import MAX_NAMES
from switchyard.domain.states import JobState, TaskState
from switchyard.domain.tasks.task import Payload
from tests.fakes.adding import AddingYard
from tests.fakes.swept_yard import HOUR, MINUTE
from tests.fakes.yard import COMPLETED, FAILED

Edges = dict[str, list[str]]

WIDTHS = (0, 1, 2, 3, 60)
MOST_TASKS = 150


class GrowingYard(AddingYard):
    def __init__(self, random: Random) -> None:
        super().__init__()
        self.random = random
        self.edges: Edges = {}
        self.patience = 500
        self.start(self.some_tasks(at_most=70))

    def some_tasks(self, *, at_most: int) -> Edges:
        """Which may follow whatever there is; a task whose name ends in 7 will fail."""
        new: Edges = {}
        for number in range(self.random.randint(1, at_most)):
            there = [*self.edges, *new]
            wanted = min(self.random.choice(WIDTHS), len(there))
            new[f"task-{len(self.edges) + number}"] = self.random.sample(there, wanted)
        self.edges |= new
        return new

    def grow(self) -> None:
        before = dict(self.edges)
        new = self.some_tasks(at_most=50)
        try:
            assert set(self.add(new).added_tasks) == set(new)
        except Conflict:
            self.edges = before  # it has ended

    def go_on(self) -> None:
        queued = [
            ref.task_id
            for ref, task in sorted(self.memory.state.tasks.items())
            if task.state is TaskState.QUEUED
        ]
        self.patience -= 1
        if not queued:
            self.sweep(after=HOUR)
            return
        name = self.random.choice(queued)
        self.settle(name, FAILED if name.endswith("7") else COMPLETED, times=self.heard())

    def heard(self) -> int:
        """An event may be lost, or come twice."""
        return self.random.choice((0, 1, 1, 1, 2))

    def expected(self) -> dict[str, TaskState]:
        states: dict[str, TaskState] = {}
        for name, parents in self.edges.items():
            if any(states[parent] is not TaskState.COMPLETED for parent in parents):
                states[name] = TaskState.SKIPPED
            else:
                states[name] = TaskState.FAILED if name.endswith("7") else TaskState.COMPLETED
        return states


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_a_job_that_grew_ends_like_one_that_was_whole(seed: int) -> None:
    yard = GrowingYard(Random(seed))
    while yard.job_state() is JobState.OPEN and len(yard.edges) < MOST_TASKS:
        yard.random.choice((yard.go_on, yard.go_on, yard.go_on, yard.work_off, yard.grow))()
    while yard.job_state() is JobState.OPEN and yard.patience:
        yard.go_on()
    picture = yard.memory.jobs.picture(yard.job)
    assert picture.job.state.settled
    assert {task.ref.task_id: task.state for task in picture.visible_tasks} == yard.expected()
    assert picture.job.total_tasks == len(yard.edges)
    assert {name: set(picture.depends_on.get(name, ())) for name in yard.edges} == {
        name: set(parents) for name, parents in yard.edges.items()
    }


def test_more_chunks_than_the_end_can_name_are_waited_for_all_the_same() -> None:
    yard = AddingYard()
    yard.start({"a": []})
    for number in range(MAX_NAMES + 20):
        yard.add({f"new-{number}": []})
    end = yard.memory.graph.find(yard.job.task("__end__"))
    assert end is not None
    assert len(end.waiting_on) == MAX_NAMES
    for number in range(MAX_NAMES + 20):
        yard.run(f"new-{number}")
        assert yard.job_state() is JobState.OPEN
    yard.run("a")
    assert yard.job_state() is JobState.COMPLETED


def test_the_end_remembers_no_names_of_what_failed_before_it() -> None:
    yard = AddingYard()
    yard.start({"a": []})
    for number in range(3):
        yard.add({f"new-{number}": []})
        yard.run(f"new-{number}", outcome=FAILED)
    assert yard.task(END).not_completed == frozenset()
    yard.run("a")
    assert yard.job_state() is JobState.FAILED


def test_a_beginning_told_after_the_job_grew_tells_what_it_was() -> None:
    yard = AddingYard()
    yard.open({"a": []})
    yard.add({"b": ["a"], "c": ["b"]})
    yard.add({"d": ["c"]})
    yard.sweep(after=2 * MINUTE)
    told = [e.detail() for e in yard.memory.bus.events if e.event_type == "Job Created"]
    assert len(told) == 2
    assert told[0] == told[1]


def test_a_beginning_told_while_the_job_grows_tells_what_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    yard = AddingYard()
    yard.open({"a": []})
    before = yard.memory.jobs.picture(yard.job)
    yard.add({"b": ["a"]})
    after = yard.memory.jobs.picture(yard.job)
    between_two_pages = replace(after, job=before.job, tasks=(*before.tasks, yard.task("b")))
    with monkeypatch.context() as patch:
        patch.setattr(yard.memory.jobs, "picture", lambda _: between_two_pages)
        yard.sweep(after=2 * MINUTE)
    told = [e.detail() for e in yard.memory.bus.events if e.event_type == "Job Created"]
    assert len(told) == 2
    assert told[0] == told[1]


def test_a_chunk_of_which_nobody_knows_any_more_what_it_was_holds_nothing_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    yard = AddingYard()
    yard.start({"a": []})
    yard.add({"b": []})
    read = yard.memory.payloads.read

    def expired(ref: TaskRef) -> Payload:
        if ref.hidden:
            raise MissingBlob("task/inputs/b.json")
        return read(ref)

    monkeypatch.setattr(yard.memory.payloads, "read", expired)
    yard.run("a", "b")
    assert yard.job_state() is JobState.COMPLETED
