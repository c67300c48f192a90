"""A worker that left because there was no work is started again by the next message alone."""

from switchyard.domain.measuring.scaling import ScalingPolicy
from switchyard.ports import QueueDepth
from switchyard.testing import ManualClock
from switchyard_local.workers.supervisor import Supervisor
from tests.unit.local.workers.test_supervisor import FakeWorker


def test_a_hibernating_pool_comes_back_with_the_next_message() -> None:
    clock, workers, said = ManualClock(), list[FakeWorker](), list[str]()
    depth = [QueueDepth(waiting=1, hidden=0)]

    def start() -> FakeWorker:
        workers.append(FakeWorker(f"worker-{len(workers) + 1}"))
        return workers[-1]

    supervisor = Supervisor(
        ScalingPolicy(min_workers=0, max_workers=2),
        start=start,
        depth=lambda: depth[0],
        slots=2,
        clock=clock,
        say=said.append,
        hibernates=True,
    )
    supervisor.step()
    assert len(workers) == 1
    depth[0] = QueueDepth(waiting=0, hidden=0)
    workers[0].running = False
    for _ in range(30):
        clock.advance(1)
        supervisor.step()
    assert len(workers) == 1
    assert "worker-1 hibernates: its groups are empty" in said
    depth[0] = QueueDepth(waiting=1, hidden=0)
    supervisor.step()
    assert len(workers) == 2
