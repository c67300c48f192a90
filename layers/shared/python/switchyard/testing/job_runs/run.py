"""`run_job`: submit a job to a stage in memory, and work until it has settled."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Protocol

from switchyard.contracts.definitions import TaskDefinition
from switchyard.contracts.jobs import SubmitJob
from switchyard.contracts.task_requests import TaskRequest
from switchyard.domain.errors import Rejected
from switchyard.domain.ids import JobRef, in_scope
from switchyard.domain.nested_jobs.job_templates import MAX_LEVELS
from switchyard.domain.states import TaskKind, TaskState, job_status, task_status
from switchyard.domain.tasks.task import Task
from switchyard.testing.job_runs.decisions import ScriptedPeople
from switchyard.testing.job_runs.engine import TENANT, MemoryEngine
from switchyard.testing.job_runs.errors import JobTestError
from switchyard.testing.job_runs.files import FilesOfTest, artifacts_of, uploaded_files
from switchyard.testing.job_runs.result import JobResult, TaskResult
from switchyard.testing.job_runs.scripts import ScriptedAgent
from switchyard.testing.job_runs.sources import JobSource, JobUnderTest, read_source
from switchyard.testing.job_runs.worker import MemoryWorker

MOST_JUMPS: Final = 10_000
"""The most jumps of the clock before the job counts as one that never settles."""


class RunJob(Protocol):
    """The type of the fixture `run_job`."""

    def __call__(
        self,
        job: JobSource,
        *,
        agents: Mapping[str, Any] | None = None,
        decisions: Mapping[str, Any] | None = None,
        signals: Mapping[str, Any] | None = None,
        functions: Sequence[str] = (),
        definitions: Mapping[str, Any] | str | PathLike[str] | None = None,
        files: FilesOfTest | None = None,
    ) -> JobResult: ...


def run_job(
    job: JobSource,
    *,
    agents: Mapping[str, Any] | None = None,
    decisions: Mapping[str, Any] | None = None,
    signals: Mapping[str, Any] | None = None,
    functions: Sequence[str] = (),
    definitions: Mapping[str, Any] | str | PathLike[str] | None = None,
    files: FilesOfTest | None = None,
) -> JobResult:
    """Run a whole job in this process and return how each of its tasks ended.

    `agents` are scripts by definition or task. `functions` are packages by path or name, whose code
    runs for real. `files` are those that the job is submitted with: contents, or paths. Raise
    `JobTestError` if the job cannot be run so.
    """
    tested = read_source(job, functions=functions, definitions=definitions)
    engine = MemoryEngine()
    upload = partial(uploaded_files, tenant=TENANT, blobs=engine.memory.blobs)
    tested = tested.with_files(upload(tested.files) | upload(files or {}))
    agent = ScriptedAgent(agents or {}, engine.clock)
    people = ScriptedPeople(engine.decider(), decisions or {}, signals or {})
    _require_used(tested, agent, people)
    began_ms = engine.clock.now_ms()
    try:
        ref = engine.submit(tested.request, tested.definitions)
    except Rejected as refused:
        raise JobTestError(f"the job is refused: {_said(refused)}") from refused
    with TemporaryDirectory() as folder, _quiet("worker"):
        worker = MemoryWorker(engine, agent, tested.functions, Path(folder))
        _work_until_settled(engine, worker, people, ref)
    seconds = (engine.clock.now_ms() - began_ms) / 1000
    return _result(engine, worker, ref, tested.request, seconds)


@contextmanager
def _quiet(service: str) -> Iterator[None]:
    """Leave out what a service logs: a test reads the result instead."""
    logger = logging.getLogger(service)
    before, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = before


def _said(refused: Rejected) -> str:
    problems = getattr(refused, "problems", ())
    return "; ".join(map(str, problems)) or str(refused)


def _require_used(tested: JobUnderTest, agent: ScriptedAgent, people: ScriptedPeople) -> None:
    tasks = dict(_tasks_in(tested.request.tasks, tested.definitions))
    steps = [
        f"{owner}/{step.name}"
        for task_id, task in tasks.items()
        if task.name in tested.definitions
        for step in tested.definitions[task.name].steps
        for owner in (task.name, task_id)
    ]
    agent.require_used({task_id: task.name or "" for task_id, task in tasks.items()}, steps)
    people.require_used({task_id: task.kind for task_id, task in tasks.items()})


def _tasks_in(
    tasks: Iterable[TaskRequest], definitions: Mapping[str, TaskDefinition], scope: str = ""
) -> Iterator[tuple[str, TaskRequest]]:
    """Yield the tasks with their ids, and those of jobs that are tasks; no list is known yet."""
    for task in tasks:
        task_id = in_scope(scope, task.task_id)
        yield task_id, task
        template = definitions.get(task.name or "") if task.kind is TaskKind.JOB else None
        if template and task_id.count("[") < MAX_LEVELS:
            yield from _tasks_in(template.tasks or (), definitions, task_id)


def _work_until_settled(
    engine: MemoryEngine, worker: MemoryWorker, people: ScriptedPeople, ref: JobRef
) -> None:
    for _ in range(MOST_JUMPS):
        _work_off(engine, worker, people, ref)
        job = engine.memory.jobs.find(ref)
        if job is not None and job.state.settled:
            return
        due_ms = engine.next_due_ms()
        if due_ms is None:
            break
        engine.advance_to(due_ms)
        engine.sweep()
    raise JobTestError(f"the job does not settle: {_open_tasks(engine, ref)} are left")


def _work_off(
    engine: MemoryEngine, worker: MemoryWorker, people: ScriptedPeople, ref: JobRef
) -> None:
    """Do everything that can be done at this moment of the test's clock."""
    busy = True
    while busy:
        busy = engine.dispatch()
        while worker.work():
            busy = engine.dispatch() or busy
        for task in engine.held(ref):
            busy = people.act_on(task) or busy


def _open_tasks(engine: MemoryEngine, ref: JobRef) -> str:
    names = [task.ref.task_id for task in engine.tasks(ref) if not task.state.settled]
    return ", ".join(names[:10]) or "no tasks"


def _result(
    engine: MemoryEngine, worker: MemoryWorker, ref: JobRef, request: SubmitJob, seconds: float
) -> JobResult:
    job = engine.memory.jobs.find(ref)
    if job is None:
        raise JobTestError(f"{ref.job_id} is gone")
    found = {task.ref.task_id: task for task in engine.tasks(ref)}
    order = [task.task_id for task in request.tasks if task.task_id in found]
    names = [*order, *(name for name in found if name not in set(order))]
    return JobResult(
        status=job_status(job.state, failure_detected=False).value,
        tasks={name: _task_result(found[name], engine, worker) for name in names},
        started=tuple(worker.started),
        events=tuple(engine.memory.bus.events),
        seconds=seconds,
    )


def _task_result(task: Task, engine: MemoryEngine, worker: MemoryWorker) -> TaskResult:
    name = task.ref.task_id
    completed = task.state is TaskState.COMPLETED
    return TaskResult(
        task_id=name,
        status=task_status(task.state, attempt=task.attempt),
        output=engine.memory.payloads.read(task.ref).output if completed else None,
        error=task.outcome.error if task.outcome else None,
        attempts=task.attempt,
        inputs=tuple(worker.inputs.get(name, ())),
        files=artifacts_of(task, engine.memory.blobs),
    )
