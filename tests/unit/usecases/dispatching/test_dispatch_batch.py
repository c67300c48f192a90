"""What the dispatch queue delivers at once: together per job, and exactly the bad ones fail."""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest
from pydantic import ValidationError

from switchyard.contracts.dispatching import DispatchMessage
from switchyard.contracts.waking import WakeUp
from switchyard.domain.errors import UnknownJob, UnknownTask
from switchyard.domain.ids import JobRef, TaskRef
from switchyard.domain.jobs.advancing import NextStep
from switchyard.domain.jobs.job import Job
from switchyard.domain.states import JobState, TaskState
from switchyard.domain.tasks.task import TaskRun
from switchyard.usecases.dispatching.dispatch_batch import BatchDispatcher
from switchyard.usecases.events import task_events
from tests.builders import TENANT
from tests.fakes.steps import Steps
from tests.fakes.yard import DISPATCH_SECONDS, Crash, Yard, crashing

OTHER_JOB = JobRef(TENANT, "job-00000000-0000-4000-8000-000000000002")


class BatchYard(Yard):
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
        """As the bus wraps it."""
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
def yard() -> BatchYard:
    return BatchYard()


def test_what_concerns_one_job_is_done_together(
    yard: BatchYard, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard.start({"a": [], "b": [], "c": ["a", "b"]})
    yard.settle("a", times=0)
    yard.settle("b", times=0)
    removed: list[Sequence[str]] = []
    remove_edges = yard.memory.graph.remove_edges

    def count(ref: TaskRef, tokens: dict[str, bool]) -> object:
        removed.append(sorted(tokens))
        return remove_edges(ref, tokens)

    monkeypatch.setattr(yard.memory.graph, "remove_edges", count)
    assert yard.failed(yard.event_of("a"), yard.event_of("b")) == {}
    assert removed == [["a@1", "b@1"]]
    assert yard.state("c") is TaskState.QUEUED


def test_exactly_the_bad_ones_come_back(yard: BatchYard) -> None:
    edges = {f"{side}{n}": [f"a{n}"] if side == "b" else [] for n in range(5) for side in "ab"}
    yard.start(edges)
    for n in range(5):
        yard.settle(f"a{n}", times=0)
    for n in (1, 3):
        del yard.memory.state.tasks[yard.job.task(f"b{n}")]
    events = [yard.event_of(f"a{n}") for n in range(5)]
    bad = ["not json", "{}", sent(OTHER_JOB), sent(yard.run_of("nobody"))]
    assert yard.failed(*events, *bad, sent(yard.job)) == {
        1: UnknownTask,
        3: UnknownTask,
        5: ValidationError,
        6: ValidationError,
        7: UnknownJob,
        8: UnknownTask,
    }
    assert {yard.state(f"b{n}") for n in (0, 2, 4)} == {TaskState.QUEUED}


def test_an_answer_says_what_was_asked_for(yard: BatchYard) -> None:
    yard.start({"a": []})
    yard.settle("a", times=0)
    ref = yard.run_of("a")
    answers = yard.batches.handle({"m1": yard.event_of("a"), "m2": sent(ref)})
    assert answers == {"m1": WakeUp(ref, by_event=True), "m2": WakeUp(ref, by_event=False)}
    assert yard.job_state() is JobState.COMPLETED


def test_only_an_event_may_be_too_late_to_matter(yard: BatchYard) -> None:
    yard.start({"a": [], "b": ["a"]})
    yard.settle("a", times=0)
    ref = yard.run_of("a")
    yard.memory.graph.clear_due(yard.memory.state.tasks[ref.ref])
    assert yard.failed(yard.event_of("a")) == {}
    assert yard.state("b") is TaskState.WAITING
    assert yard.failed(yard.event_of("a"), sent(ref)) == {}
    assert yard.state("b") is TaskState.QUEUED


def test_a_job_is_gone_on_with_once_however_often_it_was_sent(yard: BatchYard) -> None:
    yard.start({"a": []})
    cancelling = replace(yard.memory.state.jobs[yard.job], state=JobState.CANCELLING)
    yard.memory.state.jobs[yard.job] = cancelling
    yard.steps[NextStep.CANCEL] = steps = Steps(finished_after=2)
    assert yard.failed(sent(yard.job), sent(yard.job)) == {}
    assert steps.taken == [yard.job]
    assert list(yard.memory.dispatches.refs) == [yard.job]


class Sluggish:
    """A step that takes all the time there is."""

    def __init__(self, yard: BatchYard) -> None:
        self._yard = yard
        self.taken: list[JobRef] = []

    def go_on(self, job: Job, *, until: float) -> bool:
        self.taken.append(job.ref)
        self._yard.clock.advance(until - self._yard.clock.monotonic())
        return True


def test_a_batch_has_one_time_for_all(yard: BatchYard) -> None:
    yard.start({"a": [], "b": ["a"]})
    yard.settle("a", times=0)
    event = yard.event_of("a")
    cancelling = replace(yard.memory.state.jobs[yard.job], state=JobState.CANCELLING)
    yard.memory.state.jobs[yard.job] = cancelling
    yard.steps[NextStep.CANCEL] = Sluggish(yard)
    assert yard.failed(sent(yard.job), event) == {}
    assert list(yard.memory.dispatches.refs) == [yard.run_of("a")]
    assert yard.state("b") is TaskState.WAITING


def test_a_job_for_which_there_is_no_time_is_not_begun(yard: BatchYard) -> None:
    first = yard.start({"a": []})
    cancelling = replace(yard.memory.state.jobs[first], state=JobState.CANCELLING)
    for ref in (first, OTHER_JOB):
        yard.memory.state.jobs[ref] = replace(cancelling, ref=ref)
    yard.steps[NextStep.CANCEL] = sluggish = Sluggish(yard)
    assert yard.failed(sent(first), sent(OTHER_JOB), sent(OTHER_JOB)) == {}
    assert sluggish.taken == [first]
    assert list(yard.memory.dispatches.refs) == [OTHER_JOB]


def test_the_first_job_is_gone_on_with_however_little_time_there_is(yard: BatchYard) -> None:
    job = yard.start({"a": []})
    cancelling = replace(yard.memory.state.jobs[job], state=JobState.CANCELLING)
    yard.memory.state.jobs[job] = cancelling
    yard.steps[NextStep.CANCEL] = steps = Steps()
    batches = replace(yard.batches, seconds=0)
    batches.handle({"m1": sent(job)})
    assert steps.taken == [job]


def test_what_cannot_be_sent_on_comes_back(
    yard: BatchYard, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = yard.start({"a": []})
    cancelling = replace(yard.memory.state.jobs[first], state=JobState.CANCELLING)
    yard.memory.state.jobs[first] = cancelling
    yard.steps[NextStep.CANCEL] = Sluggish(yard)
    refused = crashing(yard.memory.dispatches.send, after=False)
    monkeypatch.setattr(yard.memory.dispatches, "send", refused)
    assert yard.failed(sent(first), sent(OTHER_JOB)) == {1: Crash}
