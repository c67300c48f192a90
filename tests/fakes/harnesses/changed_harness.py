"""A harness in memory whose job is cancelled and redriven; the bus wakes the dispatcher."""

from typing import Any

from switchyard.adapters.parallel import OneByOne
from switchyard.contracts.changes import RedriveAccepted, RedriveJob
from switchyard.contracts.dispatch_messages import WAKING_EVENTS
from switchyard.domain.ids import split_request_id
from switchyard.domain.jobs.job import Job, NextStep
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Outcome, Task
from switchyard.ports import Claimed
from switchyard.usecases.jobs.cancel import Canceller, CancelRequests
from switchyard.usecases.jobs.redrive import Redriver
from switchyard.usecases.jobs.redrive_requests import RedriveRequests
from tests.fakes.harnesses.job_harness import Harness
from tests.fakes.harnesses.submitting import a_limit


class ChangedHarness(Harness):
    def __init__(self) -> None:
        super().__init__()
        memory = self.memory
        self.cancels = CancelRequests(
            jobs=memory.jobs,
            graph=memory.graph,
            cancelling=memory.cancelling,
            dispatches=memory.dispatches,
            emitter=self.emitter,
            clock=self.clock,
        )
        self.canceller = Canceller(
            graph=memory.graph,
            cancelling=memory.cancelling,
            follower=self.dispatcher,
            emitter=self.emitter,
            clock=self.clock,
        )
        self.redrives = RedriveRequests(
            jobs=memory.jobs,
            redriving=memory.redriving,
            blobs=memory.blobs,
            dispatches=memory.dispatches,
            clock=self.clock,
            open_tasks=a_limit(memory, clock=self.clock),
            definitions=memory.definitions,
        )
        self.redriver = Redriver(
            jobs=memory.jobs,
            redriving=memory.redriving,
            blobs=memory.blobs,
            starter=self.starter,
            open_tasks=memory.open_tasks,
            emitter=self.emitter,
            clock=self.clock,
            parallel=OneByOne(),
        )
        self.steps |= {NextStep.CANCEL: self.canceller, NextStep.REDRIVE: self.redriver}
        self._heard = 0

    def deliver(self) -> None:
        """Deliver all wake-ups of the bus and the dispatch queue, and those that follow."""
        while self.memory.dispatches.refs or self._heard < len(self.memory.bus.events):
            news = self.memory.bus.events[self._heard :]
            self._heard += len(news)
            waking = [e for e in news if e.event_type in WAKING_EVENTS and "__" in e.entity_id]
            for event in waking:
                self.wake(split_request_id(event.entity_id)[1])
            self.work_off()

    def claim(self, task_id: str) -> Claimed:
        claimed = self.memory.leases.claim(
            self.job.task(task_id), owner="w", now_ms=self.clock.now_ms(), lease_ms=99_000
        )
        assert isinstance(claimed, Claimed)
        return claimed

    def end(self, claimed: Claimed, outcome: Outcome) -> None:
        """Settle the task as the worker that ran it does."""
        self.memory.leases.settle(claimed.lease, outcome, output=1, now_ms=self.clock.now_ms())
        self.wake(claimed.task.ref.task_id)

    def redrive(self, *tasks: str, **changes: Any) -> RedriveAccepted:
        return self.redrives.request_redrive(self.job, RedriveJob(tasks=tasks, **changes))

    def the_job(self) -> Job:
        job = self.memory.jobs.find(self.job)
        assert job is not None
        return job

    def task(self, task_id: str) -> Task:
        task = self.memory.graph.find(self.job.task(task_id))
        assert task is not None
        return task

    def states(self) -> dict[str, TaskState]:
        """Return the state of every task that people see."""
        tasks = self.memory.jobs.picture(self.job).visible_tasks
        return {task.ref.task_id: task.state for task in tasks}

    def runs(self) -> dict[str, int]:
        tasks = self.memory.jobs.picture(self.job).visible_tasks
        return {task.ref.task_id: task.run for task in tasks}
