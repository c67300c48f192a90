"""What is explored: small jobs, with few workers, each with some of the things that can happen."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from switchyard.domain.ids import START
from switchyard.domain.jobs import transitions as of_jobs
from switchyard.domain.jobs.graph import TaskSpec
from switchyard.domain.jobs.plan import Pinned, plan_job
from switchyard.domain.states import Rule, TaskKind
from switchyard.domain.tasks import readiness
from switchyard.domain.tasks import transitions as of_tasks
from switchyard.domain.tasks.holds import Hold
from switchyard.domain.tasks.task import Task
from switchyard.domain.transition import applied
from tests.model.additions import ADDED, RELAY
from tests.model.database import JOB, SOME_TIME, Clocks, Database, bounded_job, bounded_task
from tests.model.fan_outs import FAN_OUT, NESTED, fan_out, made_by, nested_job
from tests.model.workers import Habits


def chain(*, rule: Rule = Rule.ALL_COMPLETED) -> tuple[TaskSpec, ...]:
    """Two tasks, the second after the first."""
    second = TaskSpec(task_id="b", name="", depends_on=("a",), rule=rule)
    return (TaskSpec(task_id="a", name=""), second)


def gate(*, last: bool = False) -> tuple[TaskSpec, ...]:
    """An approval before a task that a worker runs, or after it."""
    hold = Hold(kind=TaskKind.APPROVAL)
    if last:
        return (
            TaskSpec(task_id="a", name=""),
            TaskSpec(task_id="b", name="", depends_on=("a",), hold=hold),
        )
    return (
        TaskSpec(task_id="a", name="", hold=hold),
        TaskSpec(task_id="b", name="", depends_on=("a",)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    name: str
    about: str
    workers: int
    functions: int
    """How many invocations run at once: of the dispatcher, the sweeper and the API."""
    tasks: tuple[TaskSpec, ...] = field(default_factory=chain)
    attempts: int = 2
    habits: Habits = field(default_factory=Habits)
    clocks: Clocks = field(default_factory=Clocks)
    cancels_job: bool = False
    cancels_tasks: bool = False
    last_run: int = 1
    """A job in this run is not redriven."""
    again: tuple[str, ...] = ()
    """What a redrive may run again with all that comes after it, whatever became of it."""
    adds: bool = False
    decides: bool = False
    """Whether people decide about what is held."""
    sweeper_pauses: bool = False
    """Whether others come in between what the sweeper reads and what it writes."""
    at_most: int | None = None
    """How many states are seen; `None` for all of them."""

    def initial(self) -> tuple[tuple[str, ...], Database]:
        """The names of the tasks, and an open job whose first tasks are ready."""
        pinned = {"": Pinned(1, self.attempts)}
        plan = plan_job(JOB, name="", tags={}, specs=self.tasks, pinned=pinned, now_ms=SOME_TIME)
        first = plan.dependents[START]
        tasks: list[Task | None] = [
            bounded_task(_ready(task) if task.ref.task_id in first else task, self.clocks)
            for task in plan.tasks
            if task.ref.task_id != START
        ]
        names = [task.ref.task_id for task in plan.tasks if task.ref.task_id != START]
        dependents = [plan.dependents.get(name, ()) for name in names]
        made = made_by(self.tasks, again=bool(self.again))
        names += made
        tasks += [None] * len(made)
        dependents += [()] * len(made)
        if self.adds:
            names += [ADDED, RELAY]
            tasks += [None, None]
            dependents += [(), ()]
        job = bounded_job(applied(plan.job, of_jobs.open_job(plan.job, now_ms=SOME_TIME)))
        return tuple(names), Database(job, tuple(tasks), tuple(dependents))

    def cut_offs(self) -> Iterator[str]:
        """Say what bounds the exploration."""
        yield f"attempts up to {self.attempts}"
        yield f"{len(self.clocks.values)} clock values"
        yield f"runs up to {self.last_run}"
        if self.habits.last_fence_handed_back:
            yield f"handed back up to fence {self.habits.last_fence_handed_back}"
        yield "messages and crashes without bound"


def _ready(task: Task) -> Task:
    """What the dispatcher makes of a task that follows `__start__` only."""
    free = replace(task, waiting_on=frozenset())
    verdict = readiness.decide_readiness(free, {})
    return applied(free, of_tasks.decide(free, verdict, now_ms=SOME_TIME))


ONE: Final = (TaskSpec(task_id="a", name=""),)

CONFIGURATIONS: Final = (
    Configuration(
        name="main",
        about="3 workers compete for 2 tasks; tasks are cancelled meanwhile",
        workers=3,
        functions=1,
        cancels_tasks=True,
    ),
    Configuration(
        name="changes",
        about="everything at once: cancel, redrive and an added task",
        workers=2,
        functions=2,
        tasks=ONE,
        attempts=1,
        cancels_job=True,
        last_run=2,
        adds=True,
        at_most=400_000,
    ),
    Configuration(
        name="leases",
        about="late and doubled requests of workers, three clock values, tasks handed back",
        workers=3,
        functions=1,
        tasks=ONE,
        clocks=Clocks((1, 3, 5)),
        habits=Habits(last_fence_handed_back=4, late_requests=True),
        cancels_tasks=True,
    ),
    Configuration(
        name="dispatchers",
        about="two dispatchers follow the same tasks, and the sweeper is slow",
        workers=1,
        functions=2,
        attempts=1,
        cancels_tasks=True,
        sweeper_pauses=True,
    ),
    Configuration(
        name="cancel",
        about="a job is cancelled, and redriven",
        workers=1,
        functions=2,
        attempts=1,
        cancels_job=True,
        last_run=2,
        at_most=400_000,
    ),
    Configuration(
        name="redrive",
        about="a job is redriven, whose second task runs whatever became of the first",
        workers=1,
        functions=2,
        attempts=1,
        tasks=chain(rule=Rule.ALL_SETTLED),
        last_run=2,
        at_most=400_000,
    ),
    Configuration(
        name="approvals",
        about="two people and time decide about a held task of a job that is cancelled or redriven",
        workers=1,
        functions=2,
        tasks=gate(last=True),
        attempts=1,
        cancels_job=True,
        cancels_tasks=True,
        decides=True,
        last_run=2,
        at_most=400_000,
    ),
    Configuration(
        name="fan-out",
        about="2 workers and 2 functions make, run, cancel and redrive a fan-out of 2 items",
        workers=2,
        functions=2,
        tasks=fan_out(),
        attempts=1,
        cancels_job=True,
        cancels_tasks=True,
        last_run=2,
        at_most=400_000,
    ),
    Configuration(
        name="nested-job",
        about="2 workers and 2 functions make, run, cancel and redrive a job that is a task",
        workers=2,
        functions=2,
        tasks=nested_job(),
        attempts=1,
        cancels_job=True,
        cancels_tasks=True,
        last_run=2,
        at_most=400_000,
    ),
    Configuration(
        name="nested-again",
        about="a job that is a task makes its tasks anew",
        workers=1,
        functions=2,
        tasks=nested_job(),
        attempts=1,
        again=(NESTED,),
        cancels_job=True,
        last_run=2,
        at_most=400_000,
    ),
    Configuration(
        name="again",
        about="a task runs again with the one after it, whatever became of them",
        workers=1,
        functions=2,
        attempts=1,
        again=("a",),
        cancels_tasks=True,
        last_run=2,
        at_most=400_000,
    ),
    Configuration(
        name="new-list",
        about="a fan-out reads its list anew, which has changed",
        workers=1,
        functions=2,
        tasks=fan_out(),
        attempts=1,
        again=(FAN_OUT,),
        cancels_job=True,
        last_run=2,
        at_most=400_000,
    ),
    Configuration(
        name="adding",
        about="a task is added to a job that ends, or is cancelled, meanwhile",
        workers=2,
        functions=2,
        tasks=ONE,
        attempts=1,
        cancels_job=True,
        adds=True,
        at_most=400_000,
    ),
)
