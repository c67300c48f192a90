"""The sweeper, on in-memory twins: whatever was lost, the job still comes to its end."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import pytest

from switchyard.contracts.events import Event
from switchyard.domain.errors import Unavailable
from switchyard.domain.ids import END, START, JobRef
from switchyard.domain.states import JobState, TaskState
from switchyard.domain.sweeping import Action
from switchyard.domain.task import Task
from switchyard.ports import Backlog, Claimed
from switchyard.usecases.sweep import Nudge, Sweeper
from tests.builders import DIAMOND, TENANT, a_plan, a_submission
from tests.fakes.yard import COMPLETED, FAILED, Crash, Yard, crashing

CHAIN: dict[str, list[str]] = {"a": [], "b": ["a"]}
MINUTE, HOUR = 60, 3600


class NobodyKnows:
    def oldest_waiting_ms(self) -> int | None:
        return None


class SweptYard(Yard):
    def sweeper(self, backlog: Backlog | None = None) -> Sweeper:
        return Sweeper(
            overdue=self.memory.overdue,
            backlog=backlog or NobodyKnows(),
            jobs=self.memory.jobs,
            graph=self.memory.graph,
            payloads=self.memory.payloads,
            queue=self.memory.queue,
            dispatcher=self.dispatcher,
            emitter=self.emitter,
            clock=self.clock,
        )

    def sweep(
        self, *, after: float = 0, at_most: int = 99, backlog: Backlog | None = None
    ) -> list[Nudge]:
        self.clock.advance(after)
        return list(self.sweeper(backlog).sweep(at_most=at_most, seconds=20))

    def open(self, edges: dict[str, list[str]]) -> None:
        """Submitted; nobody has heard of it."""
        accepted = self.submit(a_submission(edges))
        self.job = JobRef(TENANT, accepted.job_id)

    def task(self, task_id: str) -> Task:
        task = self.memory.graph.find(self.job.task(task_id))
        assert task is not None
        return task

    def claim(self, task_id: str, *, lease_ms: int = 1000) -> Claimed:
        ref, now_ms = self.job.task(task_id), self.clock.now_ms()
        claimed = self.memory.leases.claim(ref, owner="w", now_ms=now_ms, lease_ms=lease_ms)
        assert isinstance(claimed, Claimed)
        return claimed


@pytest.fixture
def yard() -> SweptYard:
    return SweptYard()


def actions(nudges: list[Nudge]) -> dict[str, Action]:
    return {getattr(n.ref, "task_id", "the job"): n.action for n in nudges}


def lost_at(
    yard: Yard, monkeypatch: pytest.MonkeyPatch, part: str, method: str, after: bool
) -> pytest.MonkeyPatch:
    target = getattr(yard.memory, part)
    monkeypatch.setattr(target, method, crashing(getattr(target, method), after=after))
    return monkeypatch


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize(
    ("part", "method"),
    [
        ("graph", "remove_edge"),
        ("graph", "decide"),
        ("graph", "mark_queued"),
        ("graph", "clear_due"),
        ("queue", "send"),
        ("bus", "put"),
        ("jobs", "settle"),
    ],
)
def test_a_crash_at_any_step_is_mended_by_sweeping_alone(
    yard: SweptYard, monkeypatch: pytest.MonkeyPatch, part: str, method: str, after: bool
) -> None:
    yard.open(CHAIN)
    with monkeypatch.context() as broken, suppress(Crash):
        lost_at(yard, broken, part, method, after)
        yard.dispatcher.dispatch(yard.job.task(START))
    yard.sweep(after=2 * MINUTE)
    for task_id in CHAIN:
        with monkeypatch.context() as broken, suppress(Crash):
            lost_at(yard, broken, part, method, after)
            yard.settle(task_id)
        yard.sweep(after=2 * MINUTE)
    assert yard.job_state() is JobState.COMPLETED
    told = yard.told()
    assert (told["Job Created"], told["Task Pending"], told["Job Completed"]) == (1, 2, 1)
    assert told["Task Completed"] <= len(CHAIN)
    assert [t.ref for t in yard.memory.state.tasks.values() if t.due_at_ms is not None] == []


def test_a_job_nobody_heard_of_runs_to_its_end_by_sweeping_alone(yard: SweptYard) -> None:
    yard.open(DIAMOND)
    yard.memory.bus.events.clear()
    yard.sweep(after=2 * MINUTE)
    for task_id in DIAMOND:
        yard.settle(task_id, times=0)
        yard.sweep(after=2 * MINUTE)
    assert yard.job_state() is JobState.COMPLETED
    assert yard.told()["Task Completed"] == len(DIAMOND)
    (created,) = [e for e in yard.memory.bus.events if e.event_type == "Job Created"]
    tasks = created.detail()["properties"]["tasks"]
    assert {t["taskId"]: t["dependsOn"] for t in tasks} == DIAMOND
    assert {t["taskId"]: t["input"] for t in tasks} == {t: {"for": t} for t in DIAMOND}


def test_the_event_of_a_settled_task_is_told_with_its_output(yard: SweptYard) -> None:
    yard.start(CHAIN)
    yard.settle("a", times=0)
    (nudge,) = yard.sweep(after=MINUTE)
    assert (nudge.ref, nudge.action) == (yard.job.task("a"), Action.DISPATCH)
    (told,) = [e for e in yard.memory.bus.events if e.event_type == "Task Completed"]
    assert told.detail()["properties"]["output"] == {"of": "a"}
    assert yard.state("b") is TaskState.QUEUED


def test_what_a_failure_skipped_is_told_and_followed(yard: SweptYard) -> None:
    yard.start(CHAIN)
    yard.settle("a", FAILED, times=0)
    yard.sweep(after=MINUTE)
    told = yard.told()
    assert (told["Task Failed"], told["Task Skipped"], told["Job Failed"]) == (1, 1, 1)


def test_a_ready_task_is_told_sent_and_marked_queued(
    yard: SweptYard, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard.open(CHAIN)
    with monkeypatch.context() as broken, suppress(Crash):
        lost_at(yard, broken, "graph", "decide", after=True)
        yard.dispatcher.dispatch(yard.job.task(START))
    yard.memory.graph.clear_due(yard.task(START))
    assert actions(yard.sweep(after=MINUTE)) == {"a": Action.START}
    assert yard.queued() == {"a"}
    assert yard.state("a") is TaskState.QUEUED
    assert yard.told()["Task Pending"] == 1


def test_a_live_lease_is_not_disturbed(yard: SweptYard) -> None:
    yard.start(CHAIN)
    yard.queued()
    claimed = yard.claim("a")
    sent = yard.memory.queue.waiting
    yard.clock.advance(MINUTE)
    until_ms = yard.clock.now_ms() + 45_000
    renewed = yard.memory.leases.renew(claimed.lease, lease_until_ms=until_ms)
    assert actions(yard.sweep()) == {"a": Action.WAIT}
    assert yard.task("a") == replace(renewed, due_at_ms=until_ms + 30_000)
    assert yard.memory.queue.waiting == sent
    assert yard.sweep() == []
    yard.memory.leases.settle(claimed.lease, COMPLETED, output=1, now_ms=yard.clock.now_ms())


def test_a_lapsed_lease_wakes_a_worker(yard: SweptYard) -> None:
    yard.start(CHAIN)
    yard.queued()
    yard.claim("a")
    assert actions(yard.sweep(after=MINUTE)) == {"a": Action.WAKE}
    assert yard.queued() == {"a"}
    assert yard.claim("a").task.attempt == 2


def test_a_lost_message_is_sent_again_and_ever_less_often(yard: SweptYard) -> None:
    yard.start(CHAIN)
    assert yard.queued() == {"a"}
    resent_after = []
    for minute in range(1, 61):
        nudges = yard.sweep(after=MINUTE)
        resent_after += [minute for n in nudges if n.action is Action.RESEND]
    assert resent_after == [5, 15, 35]
    assert yard.task("a").resends == 3


def test_nothing_is_sent_again_while_the_queue_is_behind(yard: SweptYard) -> None:
    yard.start(CHAIN)
    sent = yard.memory.queue.waiting
    yard.memory.queue.send_body("older")
    yard.memory.state.tasks[yard.job.task("a")] = replace(
        yard.task("a"), ready_at_ms=yard.clock.now_ms() + 1
    )
    nudges = yard.sweep(after=6 * MINUTE, backlog=yard.memory.queue)
    assert actions(nudges) == {"a": Action.WAIT}
    assert yard.memory.queue.waiting == sent + 1
    assert yard.task("a").resends == 0


class Interrupting:
    """The bus, during whose call a second sweeper runs from beginning to end."""

    def __init__(self, yard: SweptYard) -> None:
        self._yard = yard
        self._put = yard.memory.bus.put
        self.meanwhile: list[Nudge] | None = None

    def __call__(self, events: Sequence[Event]) -> None:
        if self.meanwhile is None:
            self.meanwhile = []
            self.meanwhile += self._yard.sweep()
        self._put(events)


def test_two_sweeps_at_once_do_not_do_a_thing_twice(
    yard: SweptYard, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard.start(CHAIN)
    yard.settle("a")
    yard.settle("b", times=0)
    other = Interrupting(yard)
    monkeypatch.setattr(yard.memory.bus, "put", other)
    assert actions(yard.sweep(after=MINUTE)) == {"b": Action.DISPATCH}
    assert other.meanwhile == []
    assert yard.job_state() is JobState.COMPLETED
    assert yard.told()["Job Completed"] == 1


def test_whoever_moves_the_due_time_later_leaves_it(
    yard: SweptYard, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard.start(CHAIN)
    yard.queued()
    find = yard.memory.graph.find
    raced: list[object] = []

    def find_and_lose(ref: object) -> Task | None:
        task = find(ref)  # type: ignore[arg-type]
        if not raced:
            raced.append(ref)
            raced.extend(yard.sweep())
        return task

    monkeypatch.setattr(yard.memory.graph, "find", find_and_lose)
    (nudge,) = yard.sweep(after=6 * MINUTE)
    assert (nudge.action, nudge.reason) == (Action.LEAVE, "somebody was faster")
    assert yard.queued() == {"a"}
    assert yard.task("a").resends == 1


def test_a_waiting_task_that_nobody_would_wake_is_found_by_the_audit(yard: SweptYard) -> None:
    yard.start(CHAIN)
    yard.settle("a", times=0)
    yard.memory.graph.clear_due(yard.task("a"))
    assert yard.sweep(after=HOUR - 1) == []
    assert actions(yard.sweep(after=1)) == {"the job": Action.AUDIT}
    assert yard.state("b") is TaskState.QUEUED
    job = yard.memory.jobs.find(yard.job)
    assert job is not None
    assert job.due_at_ms == yard.clock.now_ms() + HOUR * 1000


def test_a_half_written_job_is_abandoned(yard: SweptYard) -> None:
    yard.memory.intake.write(a_plan())
    assert actions(yard.sweep(after=5 * MINUTE)) == {"the job": Action.ABANDON}
    assert yard.sweep(after=HOUR) == []
    assert yard.memory.bus.events == []


def test_a_run_looks_at_no_more_than_it_is_told(yard: SweptYard) -> None:
    yard.start({f"t{n}": [] for n in range(40)})
    looked_at = [len(yard.sweep(after=6 * MINUTE, at_most=25))]
    looked_at.append(len(yard.sweep(at_most=25)))
    assert looked_at == [25, 15]


def test_a_run_ends_when_its_time_is_over(yard: SweptYard, monkeypatch: pytest.MonkeyPatch) -> None:
    yard.start({f"t{n}": [] for n in range(40)})
    yard.clock.advance(6 * MINUTE)
    find = yard.memory.graph.find

    def find_slowly(ref: object) -> Task | None:
        yard.clock.advance(5)
        return find(ref)  # type: ignore[arg-type]

    monkeypatch.setattr(yard.memory.graph, "find", find_slowly)
    assert len(yard.sweep()) == 4


def test_one_bad_thing_does_not_hold_up_the_others(yard: SweptYard) -> None:
    yard.start({"a": [], "b": ["a"], "c": [], "d": ["c"]})
    yard.settle("a", times=0)
    yard.settle("c", times=0)
    del yard.memory.state.tasks[yard.job.task("b")]
    nudges = {n.ref: n.error for n in yard.sweep(after=MINUTE)}
    assert nudges[yard.job.task("c")] is None
    assert nudges[yard.job.task("a")] == f"there is no task {yard.job.task('b').request_id}"
    assert yard.state("d") is TaskState.QUEUED
    assert yard.task("a").due_at_ms is not None


def test_an_outage_ends_the_run_and_the_next_one_goes_on(
    yard: SweptYard, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard.start(CHAIN)
    yard.settle("a")
    yard.settle("b", times=0)

    def unavailable(events: object) -> None:
        raise Unavailable("the bus does not answer")

    with monkeypatch.context() as down:
        down.setattr(yard.memory.bus, "put", unavailable)
        with pytest.raises(Unavailable):
            yard.sweep(after=MINUTE)
    assert yard.job_state() is JobState.OPEN
    yard.sweep(after=2 * MINUTE)
    assert yard.job_state() is JobState.COMPLETED
    assert yard.state(END) is TaskState.COMPLETED
