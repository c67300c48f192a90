"""A harness in memory, and what measures it."""

from switchyard.domain.states import TaskState
from switchyard.testing import ManualClock, MemoryHarness
from switchyard.testing.transport import MemoryQueueDepths, MemoryTaskQueue
from switchyard.usecases.measuring.measure import Measurer
from tests.builders import NOW_MS, a_task

DEAD = ("task-dlq", "event-dlq")


class MeasuredHarness:
    def __init__(self) -> None:
        self.clock = ManualClock(NOW_MS)
        self.memory = MemoryHarness(self.clock)
        self.dead = {name: MemoryTaskQueue(self.clock) for name in DEAD}
        self.measurer = Measurer(
            unsettled=self.memory.unsettled,
            presence=self.memory.presence,
            counters=self.memory.counters,
            published=self.memory.published,
            depths=MemoryQueueDepths({"tasks": self.memory.queue, **self.dead}),
            task_queue="tasks",
            dead_letter_queues=DEAD,
            clock=self.clock,
        )

    def add_task(self, task_id: str, state: TaskState, *, ready_ms_ago: int) -> None:
        ready_at_ms = NOW_MS - ready_ms_ago
        task = a_task(task_id, state=state, ready_at_ms=ready_at_ms, due_at_ms=NOW_MS)
        self.memory.state.tasks[task.ref] = task
