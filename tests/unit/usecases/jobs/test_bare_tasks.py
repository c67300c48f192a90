"""Tasks that belong to no job, on in-memory twins: dispatched, swept and emitted like any other."""

import pytest

from switchyard.contracts.dispatch_messages import settled_task
from switchyard.contracts.events import Event
from switchyard.contracts.events.envelope import BusMessage
from switchyard.contracts.messages import TaskMessage
from switchyard.domain.ids import BARE_TASK, bare_task
from switchyard.domain.jobs.adoption import Adoption, adopted_task
from switchyard.domain.jobs.overdue import Action
from switchyard.domain.jobs.plan import Pinned
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Outcome, Task, TaskRun
from switchyard.testing.additions import MemoryTaskAdoption
from switchyard.usecases.dispatching.sweep import Sweeper
from switchyard.usecases.events import task_events
from tests.builders import TENANT
from tests.fakes.harnesses.job_harness import COMPLETED, FAILED, Harness

BARE = bare_task(TENANT, "order-42")
MINUTE = 60


class BareHarness(Harness):
    """One bare task, whose message came and went."""

    def __init__(self) -> None:
        super().__init__()
        task = adopted_task(BARE, definition="scrape", pinned=Pinned(1), now_ms=self.clock.now_ms())
        MemoryTaskAdoption(self.memory.state).adopt(Adoption(task, {"a": 1}))
        self.job = BARE.job

    def task(self) -> Task:
        return self.memory.state.tasks[BARE]

    def sweep(self, *, after: float) -> list[Action]:
        self.clock.advance(after)
        sweeper = Sweeper(
            overdue=self.memory.overdue,
            jobs=self.memory.jobs,
            graph=self.memory.graph,
            payloads=self.memory.payloads,
            open_tasks=self.memory.open_tasks,
            queue=self.memory.queue,
            dispatches=self.memory.dispatches,
            starter=self.starter,
            index=self.memory.ready,
            emitter=self.emitter,
            clock=self.clock,
        )
        nudges = list(sweeper.sweep(at_most=99, seconds=20))
        self.work_off()
        assert [(nudge.ref, nudge.error) for nudge in nudges] == [(BARE, None)] * len(nudges)
        return [nudge.action for nudge in nudges]

    def woken(self) -> list[str]:
        received = self.memory.queue.receive(at_most=9, wait_seconds=0, visibility_seconds=999)
        messages = [TaskMessage.model_validate_json(message.body) for message in received]
        assert {message.ref for message in messages} <= {BARE}
        return [message.request_id for message in messages]

    def named_job(self, event_type: str) -> Event:
        (event,) = [e for e in self.memory.bus.events if e.event_type == event_type]
        return event


@pytest.fixture
def harness() -> BareHarness:
    return BareHarness()


@pytest.mark.parametrize("outcome", [COMPLETED, FAILED, Outcome(state=TaskState.TIMED_OUT)])
def test_a_settled_bare_task_moves_nothing_and_is_no_longer_due(
    harness: BareHarness, outcome: Outcome
) -> None:
    harness.settle(BARE_TASK, outcome)
    assert harness.task().state is outcome.state
    assert harness.task().due_at_ms is None
    assert harness.memory.bus.events == []
    assert harness.memory.state.jobs == {}


def test_a_lost_message_is_sent_again(harness: BareHarness) -> None:
    assert harness.sweep(after=5 * MINUTE) == [Action.RESEND]
    assert harness.woken() == ["order-42"]


def test_a_lapsed_lease_wakes_a_worker(harness: BareHarness) -> None:
    now_ms = harness.clock.now_ms()
    harness.memory.leases.claim(BARE, owner="w/1", now_ms=now_ms, lease_ms=1000)
    assert harness.sweep(after=MINUTE) == [Action.WAKE]
    assert harness.woken() == ["order-42"]


def test_a_bare_task_without_an_event_is_emitted_and_dispatched(harness: BareHarness) -> None:
    harness.settle(BARE_TASK, FAILED, times=0)
    assert harness.sweep(after=MINUTE) == [Action.DISPATCH]
    assert harness.emitted() == {"Task Failed": 1}
    assert harness.task().due_at_ms is None
    assert harness.sweep(after=MINUTE) == []


def test_its_events_name_no_job_and_lead_back_to_it(harness: BareHarness) -> None:
    harness.settle(BARE_TASK, times=0)
    harness.sweep(after=MINUTE)
    detail = harness.named_job("Task Completed").detail()
    assert "jobId" not in detail["properties"]
    assert detail["properties"]["requestId"] == detail["entityId"] == "order-42"
    assert settled_task(BusMessage.model_validate({"detail": detail}).detail) == TaskRun(BARE, 1)


def test_every_event_of_a_bare_task_has_no_job(harness: BareHarness) -> None:
    task = harness.task()
    harness.emitter.emit(
        task_events.pending(task),
        task_events.started(task, worker_id="w", process_id=1),
        task_events.attempt_failed(task, Outcome(state=TaskState.FAILED), attempt=1, at_ms=1),
        task_events.released(task, reason="stopping", at_ms=1),
    )
    details = [event.detail() for event in harness.memory.bus.events]
    assert len(details) == 4
    assert not [detail for detail in details if "jobId" in detail["properties"]]
