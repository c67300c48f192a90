"""What the dispatch queue delivers at once: together per job, and exactly the bad ones fail."""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest
from pydantic import ValidationError

from switchyard.contracts.dispatch_messages import DispatchMessage, WakeUp
from switchyard.domain.errors import UnknownJob, UnknownTask
from switchyard.domain.ids import JobRef, TaskRef
from switchyard.domain.jobs.job import Job, NextStep
from switchyard.domain.states import JobState, TaskState
from switchyard.domain.tasks.task import TaskRun
from switchyard.usecases.dispatching.dispatch_batch import BatchDispatcher
from switchyard.usecases.events import task_events
from tests.builders import TENANT
from tests.fakes.harnesses.job_harness import DISPATCH_SECONDS, Crash, Harness, crashing
from tests.fakes.steps import Steps

OTHER_JOB = JobRef(TENANT, "job-00000000-0000-4000-8000-000000000002")


class BatchHarness(Harness):
    """The messages are numbered from 0."""

    def __init__(self) -> None:
        super().__init__()
        self.batches = BatchDispatcher(
            dispatcher=self.dispatcher,
            advancer=self.advancer,
            dispatches=self.memory.dispatches,
            clock=self.clock,
            seconds=DISPATCH_SECONDS,
        )

    def event_of(self, task_id: str) -> str:
        """Return the event as the bus wraps it."""
        task = self.memory.state.tasks[self.job.task(task_id)]
        self.emitter.emit(task_events.settled(task, output=None))
        return json.dumps({"detail": self.memory.bus.events.pop().detail(), "source": "x"})

    def failed(self, *bodies: str) -> dict[int, type[Exception]]:
        answers = self.batches.handle({str(n): body for n, body in enumerate(bodies)})
        assert answers.keys() == {str(n) for n in range(len(bodies))}
        return {int(n): type(a) for n, a in answers.items() if isinstance(a, Exception)}


def sent(ref: TaskRun | JobRef) -> str:
    return DispatchMessage.to(ref).model_dump_json(by_alias=True, exclude_none=True)


@pytest.fixture
def harness() -> BatchHarness:
    return BatchHarness()


def test_what_concerns_one_job_is_done_together(
    harness: BatchHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.start({"a": [], "b": [], "c": ["a", "b"]})
    harness.settle("a", times=0)
    harness.settle("b", times=0)
    removed: list[Sequence[str]] = []
    remove_edges = harness.memory.graph.remove_edges

    def count(ref: TaskRef, tokens: dict[str, bool]) -> object:
        removed.append(sorted(tokens))
        return remove_edges(ref, tokens)

    monkeypatch.setattr(harness.memory.graph, "remove_edges", count)
    assert harness.failed(harness.event_of("a"), harness.event_of("b")) == {}
    assert removed == [["a@1", "b@1"]]
    assert harness.state("c") is TaskState.QUEUED


def test_exactly_the_bad_ones_come_back(harness: BatchHarness) -> None:
    edges = {f"{side}{n}": [f"a{n}"] if side == "b" else [] for n in range(5) for side in "ab"}
    harness.start(edges)
    for n in range(5):
        harness.settle(f"a{n}", times=0)
    for n in (1, 3):
        del harness.memory.state.tasks[harness.job.task(f"b{n}")]
    events = [harness.event_of(f"a{n}") for n in range(5)]
    bad = ["not json", "{}", sent(OTHER_JOB), sent(harness.run_of("nobody"))]
    assert harness.failed(*events, *bad, sent(harness.job)) == {
        1: UnknownTask,
        3: UnknownTask,
        5: ValidationError,
        6: ValidationError,
        7: UnknownJob,
        8: UnknownTask,
    }
    assert {harness.state(f"b{n}") for n in (0, 2, 4)} == {TaskState.QUEUED}


def test_an_answer_says_what_was_asked_for(harness: BatchHarness) -> None:
    harness.start({"a": []})
    harness.settle("a", times=0)
    ref = harness.run_of("a")
    answers = harness.batches.handle({"m1": harness.event_of("a"), "m2": sent(ref)})
    assert answers == {"m1": WakeUp(ref, by_event=True), "m2": WakeUp(ref, by_event=False)}
    assert harness.job_state() is JobState.COMPLETED


def test_only_an_event_may_be_too_late_to_matter(harness: BatchHarness) -> None:
    harness.start({"a": [], "b": ["a"]})
    harness.settle("a", times=0)
    ref = harness.run_of("a")
    harness.memory.graph.clear_due(harness.memory.state.tasks[ref.ref])
    assert harness.failed(harness.event_of("a")) == {}
    assert harness.state("b") is TaskState.WAITING
    assert harness.failed(harness.event_of("a"), sent(ref)) == {}
    assert harness.state("b") is TaskState.QUEUED


def test_a_job_is_gone_on_with_once_however_often_it_was_sent(harness: BatchHarness) -> None:
    harness.start({"a": []})
    cancelling = replace(harness.memory.state.jobs[harness.job], state=JobState.CANCELLING)
    harness.memory.state.jobs[harness.job] = cancelling
    harness.steps[NextStep.CANCEL] = steps = Steps(finished_after=2)
    assert harness.failed(sent(harness.job), sent(harness.job)) == {}
    assert steps.taken == [harness.job]
    assert list(harness.memory.dispatches.refs) == [harness.job]


class Sluggish:
    """A step that takes all the time there is."""

    def __init__(self, harness: BatchHarness) -> None:
        self._harness = harness
        self.taken: list[JobRef] = []

    def go_on(self, job: Job, *, until: float) -> bool:
        self.taken.append(job.ref)
        self._harness.clock.advance(until - self._harness.clock.monotonic())
        return True


def test_a_batch_has_one_time_for_all(harness: BatchHarness) -> None:
    harness.start({"a": [], "b": ["a"]})
    harness.settle("a", times=0)
    event = harness.event_of("a")
    cancelling = replace(harness.memory.state.jobs[harness.job], state=JobState.CANCELLING)
    harness.memory.state.jobs[harness.job] = cancelling
    harness.steps[NextStep.CANCEL] = Sluggish(harness)
    assert harness.failed(sent(harness.job), event) == {}
    assert list(harness.memory.dispatches.refs) == [harness.run_of("a")]
    assert harness.state("b") is TaskState.WAITING


def test_a_job_for_which_there_is_no_time_is_not_begun(harness: BatchHarness) -> None:
    first = harness.start({"a": []})
    cancelling = replace(harness.memory.state.jobs[first], state=JobState.CANCELLING)
    for ref in (first, OTHER_JOB):
        harness.memory.state.jobs[ref] = replace(cancelling, ref=ref)
    harness.steps[NextStep.CANCEL] = sluggish = Sluggish(harness)
    assert harness.failed(sent(first), sent(OTHER_JOB), sent(OTHER_JOB)) == {}
    assert sluggish.taken == [first]
    assert list(harness.memory.dispatches.refs) == [OTHER_JOB]


def test_the_first_job_is_gone_on_with_however_little_time_there_is(harness: BatchHarness) -> None:
    job = harness.start({"a": []})
    cancelling = replace(harness.memory.state.jobs[job], state=JobState.CANCELLING)
    harness.memory.state.jobs[job] = cancelling
    harness.steps[NextStep.CANCEL] = steps = Steps()
    batches = replace(harness.batches, seconds=0)
    batches.handle({"m1": sent(job)})
    assert steps.taken == [job]


def test_what_cannot_be_sent_on_comes_back(
    harness: BatchHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = harness.start({"a": []})
    cancelling = replace(harness.memory.state.jobs[first], state=JobState.CANCELLING)
    harness.memory.state.jobs[first] = cancelling
    harness.steps[NextStep.CANCEL] = Sluggish(harness)
    refused = crashing(harness.memory.dispatches.send, after=False)
    monkeypatch.setattr(harness.memory.dispatches, "send", refused)
    assert harness.failed(sent(first), sent(OTHER_JOB)) == {1: Crash}
