"""The use cases of a stage that move jobs on, over the in-memory twins."""

from typing import Final

from switchyard.adapters.parallel import OneByOne
from switchyard.adapters.system import SystemIds
from switchyard.contracts.definitions import TaskDefinition
from switchyard.contracts.dispatch_messages import WAKING_EVENTS, settled_task
from switchyard.contracts.events import ArrivedEvent, Context
from switchyard.contracts.jobs import SubmitJob
from switchyard.domain.access.limits import WIDEST_CEILINGS
from switchyard.domain.ids import JobRef
from switchyard.domain.jobs.job import NextStep
from switchyard.domain.nested_jobs.job_templates import used_first
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Task, TaskRun
from switchyard.testing.clock import ManualClock
from switchyard.testing.harness import MemoryHarness
from switchyard.usecases.access.limits import OpenTaskLimit
from switchyard.usecases.definitions.put_definition import put_definition
from switchyard.usecases.dispatching.dispatch_batch import JobAdvancer
from switchyard.usecases.dispatching.dispatch_task import Dispatcher, Starter
from switchyard.usecases.dispatching.fan_outs import FanOutTasks
from switchyard.usecases.dispatching.held_tasks import HeldTasks
from switchyard.usecases.dispatching.nested_jobs import NestedJobs
from switchyard.usecases.dispatching.settle_job import JobSettler
from switchyard.usecases.dispatching.sweep import Sweeper
from switchyard.usecases.events.emitting import Emitter
from switchyard.usecases.jobs.decide_task import TaskDecider
from switchyard.usecases.jobs.expand_job import Expander
from switchyard.usecases.jobs.held_task import HeldTaskReader
from switchyard.usecases.jobs.submit_job import Submitter
from switchyard.usecases.scheduling.marks import Marks

TENANT: Final = "test"
DISPATCH_SECONDS: Final = 20.0
SWEPT_AT_ONCE: Final = 10_000
MOST_OPEN_TASKS: Final = 1_000_000


class MemoryEngine:
    """A stage without workers, whose clock moves only when it is advanced."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.memory = memory = MemoryHarness(self.clock)
        context = Context(environment="test", origin="test")
        self.emitter = Emitter(memory.bus, app="task-workflow", context=context)
        self._handled = 0
        self._starter = Starter(
            graph=memory.graph,
            queue=memory.queue,
            held=HeldTasks(
                graph=memory.graph,
                payloads=memory.payloads,
                subscriber=memory.subscriber(self.emitter, self.clock),
                emitter=self.emitter,
                clock=self.clock,
                parallel=OneByOne(),
            ),
            fan_outs=self._fan_outs(),
            marks=Marks(memory.clocks, self.clock),
            emitter=self.emitter,
            clock=self.clock,
            parallel=OneByOne(),
        )
        self._dispatcher = self._new_dispatcher()
        expander = Expander(
            intake=memory.intake, blobs=memory.blobs, emitter=self.emitter, clock=self.clock
        )
        self._advancer = JobAdvancer(
            jobs=memory.jobs, dispatches=memory.dispatches, steps={NextStep.EXPAND: expander}
        )

    def submit(self, request: SubmitJob, definitions: dict[str, TaskDefinition]) -> JobRef:
        """Register the definitions and accept the job, or raise as the API would refuse it."""
        for name in used_first({name: one.template for name, one in definitions.items()}):
            put_definition(
                TENANT,
                name,
                definitions[name],
                definitions=self.memory.definitions,
                ceilings=WIDEST_CEILINGS,
            )
        return JobRef(TENANT, self._submitter().submit(TENANT, request).job_id)

    def _fan_outs(self) -> FanOutTasks:
        memory = self.memory
        return FanOutTasks(
            fan_outs=memory.fan_outs,
            intake=memory.intake,
            jobs=memory.jobs,
            graph=memory.graph,
            payloads=memory.payloads,
            blobs=memory.blobs,
            nested=NestedJobs(definitions=memory.definitions, payloads=memory.payloads),
            open_tasks=self._open_task_limit(),
            dispatches=memory.dispatches,
            emitter=self.emitter,
            clock=self.clock,
            parallel=OneByOne(),
        )

    def decider(self) -> TaskDecider:
        memory = self.memory
        reader = HeldTaskReader(
            jobs=memory.jobs, graph=memory.graph, payloads=memory.payloads, blobs=memory.blobs
        )
        return TaskDecider(
            reader=reader,
            graph=memory.graph,
            emitter=self.emitter,
            clock=self.clock,
            ids=SystemIds(),
        )

    def dispatch(self) -> bool:
        """Do everything that follows from events and messages so far; return whether any came."""
        before = self._handled
        while self._handled < len(self.memory.bus.events) or self.memory.dispatches.refs:
            while self.memory.dispatches.refs:
                self._go_on(self.memory.dispatches.refs.popleft())
            for event in self.memory.bus.events[self._handled :]:
                self._handled += 1
                if event.event_type in WAKING_EVENTS:
                    arrived = ArrivedEvent.model_validate(event.detail())
                    self._follow(settled_task(arrived), by_event=True)
        return self._handled > before

    def sweep(self) -> None:
        """Look for what is overdue, as every minute in production."""
        memory = self.memory
        sweeper = Sweeper(
            overdue=memory.overdue,
            jobs=memory.jobs,
            graph=memory.graph,
            payloads=memory.payloads,
            open_tasks=memory.open_tasks,
            queue=memory.queue,
            dispatches=memory.dispatches,
            starter=self._starter,
            index=memory.ready,
            emitter=self.emitter,
            clock=self.clock,
        )
        for _ in sweeper.sweep(at_most=SWEPT_AT_ONCE, seconds=DISPATCH_SECONDS):
            pass

    def tasks(self, job: JobRef) -> list[Task]:
        """Return the tasks of a job that people see, as they are now."""
        return list(self.memory.jobs.picture(job).visible_tasks)

    def held(self, job: JobRef) -> list[Task]:
        """Return the tasks of a job that a person, a program or the time has to end."""
        tasks = self.memory.state.tasks.values()
        return [task for task in tasks if task.state is TaskState.HELD and task.ref.job == job]

    def next_due_ms(self) -> int | None:
        """Return when something happens by itself: a message comes, or a due time is over."""
        due = [task.due_at_ms for task in self.memory.state.tasks.values()]
        due += [job.due_at_ms for job in self.memory.state.jobs.values()]
        due.append(self.memory.queue.next_visible_ms())
        return min((moment for moment in due if moment is not None), default=None)

    def advance_to(self, moment_ms: int) -> None:
        self.clock.advance(max(0, moment_ms - self.clock.now_ms()) / 1000)

    def _go_on(self, ref: TaskRun | JobRef) -> None:
        if isinstance(ref, TaskRun):
            self._follow(ref, by_event=False)
        else:
            self._advancer.advance(ref, until=self._until)

    def _follow(self, run: TaskRun, *, by_event: bool) -> None:
        self._dispatcher.dispatch([run], until=self._until, woken_by_event=by_event)

    @property
    def _until(self) -> float:
        return self.clock.monotonic() + DISPATCH_SECONDS

    def _new_dispatcher(self) -> Dispatcher:
        memory = self.memory
        return Dispatcher(
            graph=memory.graph,
            payloads=memory.payloads,
            settler=JobSettler(
                jobs=memory.jobs,
                open_tasks=memory.open_tasks,
                dispatches=memory.dispatches,
                emitter=self.emitter,
                clock=self.clock,
            ),
            starter=self._starter,
            dispatches=memory.dispatches,
            emitter=self.emitter,
            clock=self.clock,
            parallel=OneByOne(),
        )

    def _open_task_limit(self) -> OpenTaskLimit:
        return OpenTaskLimit(
            open_tasks=self.memory.open_tasks,
            jobs=self.memory.jobs,
            clock=self.clock,
            most=MOST_OPEN_TASKS,
        )

    def _submitter(self) -> Submitter:
        memory = self.memory
        return Submitter(
            intake=memory.intake,
            jobs=memory.jobs,
            definitions=memory.definitions,
            submission_keys=memory.submission_keys,
            tenants=memory.tenants,
            open_tasks=self._open_task_limit(),
            blobs=memory.blobs,
            dispatches=memory.dispatches,
            emitter=self.emitter,
            clock=self.clock,
            ids=SystemIds(),
        )
