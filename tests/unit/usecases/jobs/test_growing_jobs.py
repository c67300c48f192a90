"""Jobs that grow while they run, in any order, end as if they had been whole from the beginning."""

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from switchyard.domain.errors import Conflict, MissingBlob
from switchyard.domain.ids import END, TaskRef
from switchyard.domain.jobs.limits import MAX_NAMES
from switchyard.domain.states import JobState, TaskState
from switchyard.domain.tasks.task import Payload
from tests.fakes.harnesses.growing_harness import AddingHarness
from tests.fakes.harnesses.job_harness import COMPLETED, FAILED
from tests.fakes.harnesses.swept_harness import HOUR, MINUTE

Edges = dict[str, list[str]]

WIDTHS = (0, 1, 2, 3, 60)
MOST_TASKS = 150


class GrowingHarness(AddingHarness):
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
@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_a_job_that_grew_ends_like_one_that_was_whole(seed: int) -> None:
    harness = GrowingHarness(Random(seed))
    while harness.job_state() is JobState.OPEN and len(harness.edges) < MOST_TASKS:
        harness.random.choice(
            (harness.go_on, harness.go_on, harness.go_on, harness.work_off, harness.grow)
        )()
    while harness.job_state() is JobState.OPEN and harness.patience:
        harness.go_on()
    picture = harness.memory.jobs.picture(harness.job)
    assert picture.job.state.settled
    assert {task.ref.task_id: task.state for task in picture.visible_tasks} == harness.expected()
    assert picture.job.total_tasks == len(harness.edges)
    assert {name: set(picture.depends_on.get(name, ())) for name in harness.edges} == {
        name: set(parents) for name, parents in harness.edges.items()
    }


def test_more_chunks_than_the_end_can_name_are_waited_for_all_the_same() -> None:
    harness = AddingHarness()
    harness.start({"a": []})
    for number in range(MAX_NAMES + 20):
        harness.add({f"new-{number}": []})
    end = harness.memory.graph.find(harness.job.task("__end__"))
    assert end is not None
    assert len(end.waiting_on) == MAX_NAMES
    for number in range(MAX_NAMES + 20):
        harness.run(f"new-{number}")
        assert harness.job_state() is JobState.OPEN
    harness.run("a")
    assert harness.job_state() is JobState.COMPLETED


def test_the_end_remembers_no_names_of_what_failed_before_it() -> None:
    harness = AddingHarness()
    harness.start({"a": []})
    for number in range(3):
        harness.add({f"new-{number}": []})
        harness.run(f"new-{number}", outcome=FAILED)
    assert harness.task(END).not_completed == frozenset()
    harness.run("a")
    assert harness.job_state() is JobState.FAILED


def test_an_event_of_the_creation_after_the_job_grew_has_the_first_tasks_only() -> None:
    harness = AddingHarness()
    harness.open({"a": []})
    harness.add({"b": ["a"], "c": ["b"]})
    harness.add({"d": ["c"]})
    harness.sweep(after=2 * MINUTE)
    emitted = [e.detail() for e in harness.memory.bus.events if e.event_type == "Job Created"]
    assert len(emitted) == 2
    assert emitted[0] == emitted[1]


def test_an_event_of_the_creation_while_the_job_grows_has_the_first_tasks_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    harness = AddingHarness()
    harness.open({"a": []})
    before = harness.memory.jobs.picture(harness.job)
    harness.add({"b": ["a"]})
    after = harness.memory.jobs.picture(harness.job)
    between_two_pages = replace(after, job=before.job, tasks=(*before.tasks, harness.task("b")))
    with monkeypatch.context() as patch:
        patch.setattr(harness.memory.jobs, "picture", lambda _: between_two_pages)
        harness.sweep(after=2 * MINUTE)
    emitted = [e.detail() for e in harness.memory.bus.events if e.event_type == "Job Created"]
    assert len(emitted) == 2
    assert emitted[0] == emitted[1]


def test_a_chunk_of_which_nobody_knows_any_more_what_it_was_holds_nothing_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    harness = AddingHarness()
    harness.start({"a": []})
    harness.add({"b": []})
    read = harness.memory.payloads.read

    def expired(ref: TaskRef) -> Payload:
        if ref.hidden:
            raise MissingBlob("task/inputs/b.json")
        return read(ref)

    monkeypatch.setattr(harness.memory.payloads, "read", expired)
    harness.run("a", "b")
    assert harness.job_state() is JobState.COMPLETED
