"""A harness in memory with one job under way: the test plays the worker."""

from collections import Counter
from collections.abc import Callable

from switchyard.adapters.parallel import OneByOne
from switchyard.contracts.jobs import JobAccepted, SubmitJob
from switchyard.contracts.messages import TaskMessage
from switchyard.domain.ids import START, JobRef
from switchyard.domain.jobs.job import NextStep
from switchyard.domain.states import JobState, Rule, TaskState
from switchyard.domain.tasks.task import Outcome, TaskRun
from switchyard.ports import Claimed
from switchyard.testing import ManualClock, MemoryHarness
from switchyard.usecases.access.limits import OpenTaskLimit
from switchyard.usecases.dispatching.dispatch_batch import JobAdvancer, JobStep
from switchyard.usecases.dispatching.dispatch_task import Dispatcher, Starter
from switchyard.usecases.dispatching.fan_outs import FanOutTasks
from switchyard.usecases.dispatching.held_tasks import HeldTasks
from switchyard.usecases.dispatching.nested_jobs import NestedJobs
from switchyard.usecases.dispatching.settle_job import JobSettler
from switchyard.usecases.scheduling.marks import Marks
from tests.builders import TENANT, a_definition, a_submission, an_emitter
from tests.fakes.harnesses.submitting import a_submitter

COMPLETED = Outcome(state=TaskState.COMPLETED, exit_code=0)
DISPATCH_SECONDS = 20
FAILED = Outcome(state=TaskState.FAILED, error="boom", error_category="validation")


class OneJobId:
    def new_job_id(self) -> str:
        return "job-00000000-0000-4000-8000-000000000001"

    def new_worker_id(self) -> str:
        return "worker-1"

    def new_secret(self) -> str:
        return "secret"


class Harness:
    """A job under way: the test plays the worker."""

    traceparent: str | None = None
    """What jobs are submitted with."""
    most_open_tasks = 100_000

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.memory = MemoryHarness(self.clock)
        self.memory.definitions.put(TENANT, "scrape", a_definition())
        self.emitter = an_emitter(self.memory.bus)
        self.held = HeldTasks(
            graph=self.memory.graph,
            payloads=self.memory.payloads,
            subscriber=self.memory.subscriber(self.emitter, self.clock),
            emitter=self.emitter,
            clock=self.clock,
            parallel=OneByOne(),
        )
        self.marks = Marks(self.memory.clocks, self.clock)
        self.fan_outs = self._fan_outs()
        self.starter = Starter(
            graph=self.memory.graph,
            queue=self.memory.queue,
            held=self.held,
            fan_outs=self.fan_outs,
            marks=self.marks,
            emitter=self.emitter,
            clock=self.clock,
            parallel=OneByOne(),
        )
        self.dispatcher = self._dispatcher()
        self.steps: dict[NextStep, JobStep] = {}
        self.advancer = JobAdvancer(
            jobs=self.memory.jobs, dispatches=self.memory.dispatches, steps=self.steps
        )

    def _dispatcher(self) -> Dispatcher:
        return Dispatcher(
            graph=self.memory.graph,
            payloads=self.memory.payloads,
            settler=JobSettler(
                jobs=self.memory.jobs,
                open_tasks=self.memory.open_tasks,
                dispatches=self.memory.dispatches,
                emitter=self.emitter,
                clock=self.clock,
            ),
            starter=self.starter,
            dispatches=self.memory.dispatches,
            emitter=self.emitter,
            clock=self.clock,
            parallel=OneByOne(),
        )

    def _fan_outs(self) -> FanOutTasks:
        return FanOutTasks(
            fan_outs=self.memory.fan_outs,
            intake=self.memory.intake,
            jobs=self.memory.jobs,
            graph=self.memory.graph,
            payloads=self.memory.payloads,
            blobs=self.memory.blobs,
            nested=NestedJobs(definitions=self.memory.definitions, payloads=self.memory.payloads),
            open_tasks=OpenTaskLimit(
                open_tasks=self.memory.open_tasks,
                jobs=self.memory.jobs,
                clock=self.clock,
                most=self.most_open_tasks,
            ),
            dispatches=self.memory.dispatches,
            emitter=self.emitter,
            clock=self.clock,
            parallel=OneByOne(),
        )

    def submit(self, request: SubmitJob) -> JobAccepted:
        submitter = a_submitter(self.memory, clock=self.clock, ids=OneJobId())
        return submitter.submit(TENANT, request, traceparent=self.traceparent)

    def start(self, edges: dict[str, list[str]], **rules: Rule) -> JobRef:
        request = a_submission(edges)
        tasks = [t.model_copy(update={"rule": rules.get(t.task_id, t.rule)}) for t in request.tasks]
        accepted = self.submit(request.model_copy(update={"tasks": tuple(tasks)}))
        self.job = JobRef(TENANT, accepted.job_id)
        self.wake(START)
        return self.job

    def wake(self, *task_ids: str, by_event: bool = True) -> None:
        runs = [self.run_of(task_id) for task_id in task_ids]
        self.dispatcher.dispatch(runs, until=self.until, woken_by_event=by_event)

    def run_of(self, task_id: str) -> TaskRun:
        """The one it is in."""
        task = self.memory.state.tasks.get(self.job.task(task_id))
        return task.this_run if task else TaskRun(self.job.task(task_id), 1)

    @property
    def until(self) -> float:
        return self.clock.monotonic() + DISPATCH_SECONDS

    def work_off(self) -> None:
        """What was sent to the dispatcher, and what that sends there in turn."""
        waiting = self.memory.dispatches.refs
        while waiting:
            ref = waiting.popleft()
            if isinstance(ref, TaskRun):
                self.dispatcher.dispatch([ref], until=self.until)
            else:
                self.advancer.advance(ref, until=self.until)

    def queued(self) -> set[str]:
        received = self.memory.queue.receive(at_most=99, wait_seconds=0, visibility_seconds=9999)
        return {TaskMessage.model_validate_json(message.body).task_id for message in received}

    def settle(self, task_id: str, outcome: Outcome = COMPLETED, *, times: int = 1) -> None:
        ref = self.job.task(task_id)
        answer = self.memory.leases.claim(ref, owner="w", now_ms=self.clock.now_ms(), lease_ms=1000)
        assert isinstance(answer, Claimed)
        self.memory.leases.settle(
            answer.lease, outcome, output={"of": task_id}, now_ms=self.clock.now_ms()
        )
        for _ in range(times):
            self.wake(task_id)

    def state(self, task_id: str) -> TaskState:
        task = self.memory.graph.find(self.job.task(task_id))
        assert task is not None
        return task.state

    def job_state(self) -> JobState:
        job = self.memory.jobs.find(self.job)
        assert job is not None
        return job.state

    def emitted(self) -> Counter[str]:
        """Each event once, however often it was emitted: ids tell them apart."""
        return Counter({e.event_id: e.event_type for e in self.memory.bus.events}.values())


class Crash(Exception):
    pass


def crashing(call: Callable[..., object], *, after: bool) -> Callable[..., object]:
    def crash(*args: object, **kwargs: object) -> object:
        if after:
            call(*args, **kwargs)
        raise Crash

    return crash
