"""Worker processes come and go with the backlog; here they are only played."""

import signal
from dataclasses import dataclass, field

import pytest

from switchyard.domain.measuring.scaling import ScalingPolicy
from switchyard.ports import QueueDepth
from switchyard.testing import ManualClock
from switchyard_local.workers.shutdown import STOP_SECONDS
from switchyard_local.workers.supervisor import EARLY_SECONDS, LONGEST_PAUSE_SECONDS, Supervisor

POLICY = ScalingPolicy(
    min_workers=1, max_workers=4, target_per_worker=10, scale_in_after_seconds=60
)
SLOTS = 3


@dataclass
class FakeWorker:
    name: str
    running: bool = True
    busy: bool = False
    exit_code: int | None = 0
    lingers: bool = False
    """It has something to finish before it ends."""
    signals: list[signal.Signals] = field(default_factory=list)

    def signal(self, number: signal.Signals) -> None:
        if self.running:
            self.signals.append(number)
            self.running = self.lingers and number is not signal.SIGKILL


class Stand:
    def __init__(self, *present: str) -> None:
        self.clock = ManualClock()
        self.depth = QueueDepth(waiting=0, hidden=0)
        self.workers = [FakeWorker(name) for name in present]
        self.said: list[str] = []
        self.supervisor = Supervisor(
            POLICY,
            start=self.start,
            depth=lambda: self.depth,
            slots=SLOTS,
            clock=self.clock,
            say=self.said.append,
            present=self.workers[:],
        )

    def start(self) -> FakeWorker:
        worker = FakeWorker(f"worker-{len(self.workers) + 1}")
        self.workers.append(worker)
        return worker

    def step(self, *, waiting: int = 0, hidden: int = 0, after: float = 1) -> list[str]:
        """Take one step, and return which workers run afterwards."""
        self.clock.advance(after)
        self.depth = QueueDepth(waiting=waiting, hidden=hidden)
        self.supervisor.step()
        return self.running()

    def running(self) -> list[str]:
        return [worker.name for worker in self.workers if worker.running]


@pytest.fixture
def stand() -> Stand:
    return Stand()


def test_the_least_number_runs_without_any_backlog(stand: Stand) -> None:
    assert stand.step() == ["worker-1"]
    assert stand.step() == ["worker-1"]


def test_workers_come_with_the_backlog_and_go_with_it(stand: Stand) -> None:
    stand.step()
    assert len(stand.step(waiting=35, after=30)) == 4
    assert len(stand.step(after=59)) == 4
    assert stand.step() == ["worker-1"]
    assert stand.said == [
        "0 → 1 workers: 0 waiting and 0 in flight need 1",
        "1 → 4 workers: 35 waiting and 0 in flight need 4",
        "4 → 1 workers: 0 waiting and 0 in flight need 1",
    ]


def test_more_come_only_after_the_cooldown(stand: Stand) -> None:
    stand.step(waiting=15)
    assert len(stand.step(waiting=35, after=29)) == 2
    assert len(stand.step(waiting=35)) == 4


def test_as_many_stay_as_what_is_in_flight_needs(stand: Stand) -> None:
    stand.step(waiting=40)
    assert len(stand.step(hidden=2 * SLOTS + 1, after=60)) == 3


def test_a_need_that_comes_back_keeps_the_workers(stand: Stand) -> None:
    stand.step(waiting=35)
    stand.step(after=50)
    stand.step(waiting=35)
    assert len(stand.step(after=59)) == 4
    assert stand.step() == ["worker-1"]


def test_idle_workers_are_stopped_rather_than_busy_ones(stand: Stand) -> None:
    stand.step(waiting=40)
    stand.workers[1].busy = stand.workers[3].busy = True
    assert stand.step(hidden=4, after=60) == ["worker-2", "worker-4"]
    assert [worker.signals for worker in (stand.workers[1], stand.workers[3])] == [[], []]


def test_a_busy_worker_that_is_too_many_stops_when_its_tasks_have_ended(stand: Stand) -> None:
    stand.step(waiting=20)
    first, second = stand.workers
    first.busy = second.busy = True
    stand.step(hidden=2, after=60)
    assert stand.supervisor.too_many == 1
    assert [first.signals, second.signals] == [[], []]
    second.busy = False
    assert stand.step(hidden=1) == ["worker-1"]
    assert second.signals == [signal.SIGTERM]


def going(stand: Stand) -> FakeWorker:
    """Return a worker that was asked to stop, and has something to finish first."""
    stand.step(waiting=20)
    last = stand.workers[-1]
    last.lingers = True
    stand.step(after=60)
    return last


def test_who_goes_is_asked_once_and_may_finish(stand: Stand) -> None:
    last = going(stand)
    stand.step()
    assert last.signals == [signal.SIGTERM]
    assert last.running
    assert stand.supervisor.leaving == 1
    last.running = False
    stand.step()
    assert stand.supervisor.leaving == 0


def test_who_does_not_go_in_time_is_killed(stand: Stand) -> None:
    last = going(stand)
    stand.step(after=STOP_SECONDS + 1)
    assert last.signals == [signal.SIGTERM, signal.SIGKILL]


def test_a_worker_that_ended_by_itself_is_replaced_at_once(stand: Stand) -> None:
    stand.step(waiting=20)
    stand.workers[0].running = False
    assert stand.step(waiting=20, after=EARLY_SECONDS) == ["worker-2", "worker-3"]
    assert stand.said[-1] == "worker-1 has ended by itself, and is replaced"


def test_workers_that_always_end_at_once_are_started_after_longer_and_longer_pauses(
    stand: Stand,
) -> None:
    stand.step()
    for pause in (1, 2, 4, 8, 16, 32, LONGEST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS):
        stand.workers[-1].running = False
        assert stand.step() == []
        assert stand.step(after=pause - 0.5) == []
        assert len(stand.step(after=0.5)) == 1
    assert stand.said[-1].endswith("The next one starts in 60 s")


def test_workers_that_are_killed_are_replaced_at_once(stand: Stand) -> None:
    stand.step()
    for _ in range(10):
        stand.workers[-1].running, stand.workers[-1].exit_code = False, -signal.SIGKILL
        assert len(stand.step()) == 1
    assert stand.said[-1] == "worker-10 was killed by SIGKILL, and is replaced"


def test_a_signal_without_a_name_is_reported_by_its_number(stand: Stand) -> None:
    stand.step()
    stand.workers[0].running, stand.workers[0].exit_code = False, -40
    stand.step()
    assert stand.said[-1] == "worker-1 was killed by signal 40, and is replaced"


def test_of_a_worker_that_another_command_started_no_cause_is_claimed() -> None:
    stand = Stand("worker")
    stand.workers[0].running, stand.workers[0].exit_code = False, None
    assert stand.step() == ["worker-2"]
    assert stand.said[-1] == (
        "worker has ended, and is replaced. Another command started it: how it ended is not known "
        "here, and its log may say why"
    )


def test_workers_that_end_now_and_then_are_replaced_for_ever(stand: Stand) -> None:
    stand.step()
    for _ in range(6):
        stand.workers[-1].running = False
        stand.step(after=60)
    assert len(stand.running()) == 1


def test_who_was_there_before_counts() -> None:
    stand = Stand("worker", "worker-2")
    assert stand.step(waiting=15) == ["worker", "worker-2"]
    assert stand.step(after=60) == ["worker"]


@pytest.mark.parametrize(("keep", "left"), [(0, []), (1, ["worker-1"])])
def test_in_the_end_all_but_those_to_keep_are_waited_for(
    keep: int, left: list[str], stand: Stand
) -> None:
    stand.step(waiting=40)
    stand.supervisor.stop(keep=keep)
    assert stand.running() == left
    assert all(worker.signals in ([], [signal.SIGTERM]) for worker in stand.workers)


def test_what_was_to_be_kept_and_has_ended_is_not_started_again(stand: Stand) -> None:
    stand.step()
    stand.workers[0].running = False
    stand.supervisor.stop(keep=1)
    assert stand.running() == []


def test_an_interruption_hurries_those_who_are_waited_for(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_seconds: float) -> None:
        raise KeyboardInterrupt

    stand.step(waiting=20)
    for worker in stand.workers:
        worker.busy = worker.lingers = True
    monkeypatch.setattr(stand.clock, "sleep", interrupted)
    with pytest.raises(KeyboardInterrupt):
        stand.supervisor.stop()
    assert stand.running() == []


def test_it_looks_again_and_again_until_something_ends_it(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killing_the_worker(_seconds: float) -> None:
        if len(stand.workers) == 2:
            raise KeyboardInterrupt
        stand.workers[0].running, stand.workers[0].exit_code = False, -signal.SIGKILL

    monkeypatch.setattr(stand.clock, "sleep", killing_the_worker)
    with pytest.raises(KeyboardInterrupt):
        stand.supervisor.run()
    assert stand.running() == ["worker-2"]
