"""A worker without processes: it gathers, judges and settles as a real one, one task at a time.

Agents are scripted. Code runs in this process, so that no timeout and no limit of memory ends it.
"""

import contextlib
import io
import json
import sys
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from switchyard.contracts.messages import TaskMessage
from switchyard.domain.access.limits import WIDEST_CEILINGS
from switchyard.domain.errors import Rejected
from switchyard.domain.ids import TaskRef
from switchyard.domain.prompts.artifacts import RESULT_FILE, content_type_of
from switchyard.domain.tasks.failures import FailureCategory
from switchyard.domain.tasks.task import Lease, Task
from switchyard.functions.progress import report_to
from switchyard.ports import Claimed, ClaimRefused
from switchyard.settings import WorkerSettings
from switchyard.testing.job_runs.commitments import found_of
from switchyard.testing.job_runs.engine import MemoryEngine
from switchyard.testing.job_runs.errors import JobTestError
from switchyard.testing.job_runs.scripts import FailsTest, OutOfTime, ScriptedAgent
from switchyard.testing.job_runs.settling import refusals_of
from switchyard.usecases.events import task_events
from switchyard_worker.agents.agent import AgentFailed
from switchyard_worker.boundary import MARKER, Assignment, Step
from switchyard_worker.child.code import CodeTask
from switchyard_worker.child.results import TaskResult, write_outcome
from switchyard_worker.child.workflow import StepChecks, Workflow
from switchyard_worker.guard.examine import Finding, examine_outcome, examine_value
from switchyard_worker.guard.redaction import Redaction
from switchyard_worker.parent.attempts.assignments import (
    Assignments,
    check_input,
    input_document,
)
from switchyard_worker.parent.attempts.child_outcome import Judge
from switchyard_worker.parent.attempts.commitment_evidence import with_found
from switchyard_worker.parent.attempts.functions import NotServed, ServedFunctions
from switchyard_worker.parent.attempts.guard_client import GuardClient
from switchyard_worker.parent.attempts.inputs import Download, InputFinder
from switchyard_worker.parent.attempts.required_artifacts import with_required
from switchyard_worker.parent.attempts.upload import (
    MAX_FILE_BYTES,
    artifacts_prefix,
    files_to_upload,
)
from switchyard_worker.parent.attempts.verdict import HandedBack, Verdict, failed, timed_out
from switchyard_worker.parent.coroutines import Runtime
from switchyard_worker.parent.files.folder import TaskFolder

LEASE_MS: Final = 24 * 60 * 60 * 1000
VISIBILITY_SECONDS: Final = 100_000
NO_SECRETS: Final = Redaction()

R = TypeVar("R")


class MemoryWorker:
    """Runs what is in the queue of an engine."""

    def __init__(
        self,
        engine: MemoryEngine,
        agent: ScriptedAgent,
        functions: ServedFunctions,
        folder: Path,
    ) -> None:
        self._engine = engine
        self._agent = agent
        self._folder = folder
        self._runtime = Runtime(
            clock=engine.clock, sleep=_no_sleep, offload=_at_once, randomness=_Longest()
        )
        self._guard = cast("GuardClient", _GuardHere())
        memory = engine.memory
        self._assignments = Assignments(
            memory.payloads,
            memory.definitions,
            _settings(folder),
            credential=None,
            inputs=InputFinder(leases=memory.leases, payloads=memory.payloads, blobs=memory.blobs),
            functions=functions,
        )
        self._refusals = refusals_of(self._runtime, engine)
        self._settlement = self._refusals.settlement
        self.started: list[str] = []
        self.inputs: dict[str, list[Any]] = {}

    def work(self) -> bool:
        """Take one message and do what it asks for; return whether there was one."""
        queue = self._engine.memory.queue
        received = queue.receive(at_most=1, wait_seconds=0, visibility_seconds=VISIBILITY_SECONDS)
        for message in received:
            try:
                self._take(TaskMessage.model_validate_json(message.body).ref)
            except FailsTest as failure:
                raise failure.error from None
            queue.delete(message)
        return bool(received)

    def _take(self, ref: TaskRef) -> None:
        now_ms = self._engine.clock.now_ms()
        answer = self._engine.memory.leases.claim(
            ref, owner="test", now_ms=now_ms, lease_ms=LEASE_MS
        )
        if isinstance(answer, ClaimRefused):
            _ended(self._refusals.answer(answer))
        elif isinstance(answer, Claimed):
            _ended(self._settlement.settle(answer, self._attempt(answer)))

    def _attempt(self, claimed: Claimed) -> Verdict:
        task = claimed.task
        try:
            assignment = _ended(self._gathered(task))
        except NotServed as missing:
            raise JobTestError(
                f"the task {task.ref.task_id!r} runs {missing.code}, which is not served: name its "
                "package, as in functions=['my_functions']"
            ) from missing
        except Rejected as problem:
            return failed(category=FailureCategory.VALIDATION, error=str(problem))
        self.started.append(task.ref.task_id)
        self.inputs.setdefault(task.ref.task_id, []).append(assignment.input)
        fact = task_events.started(task, worker_id="test", process_id=1)
        self._engine.emitter.emit(fact)
        return self._judged(claimed.lease, assignment)

    async def _gathered(self, task: Task) -> Assignment:
        """Return what an attempt is given. Raise `Rejected` or `NotServed`."""
        assignment = self._assignments.gather(task)
        schema = self._assignments.input_schema(task)
        if schema is not None:
            await check_input(input_document(assignment), schema, self._guard)
        return assignment

    def _judged(self, lease: Lease, assignment: Assignment) -> Verdict:
        began = self._engine.clock.now_ms()
        folder = TaskFolder.fresh(self._folder, lease)
        try:
            Download(self._engine.memory.blobs, folder, assignment.inputs).run()
            result = self._run(lease, assignment, folder.path)
            write_outcome(result, folder.path)
            judge = Judge(guard=self._guard, offload=_at_once)
            verdict = _ended(
                judge.verdict(
                    folder,
                    exit_code=0 if result.completed else 1,
                    duration_ms=self._engine.clock.now_ms() - began,
                    schema=assignment.output_schema,
                    redaction=NO_SECRETS,
                )
            )
            found = _ended(
                found_of(
                    verdict, assignment, folder, lease, runtime=self._runtime, guard=self._guard
                )
            )
            if found:
                verdict = with_found(verdict, found)
            return self._stored(lease, assignment, verdict, folder)
        except OutOfTime:
            spent_ms = self._engine.clock.now_ms() - began
            return timed_out(
                timeout_ms=assignment.timeout_ms, duration_ms=spent_ms, signal="SIGTERM"
            )
        finally:
            folder.close()

    def _stored(
        self, lease: Lease, assignment: Assignment, verdict: Verdict, folder: TaskFolder
    ) -> Verdict:
        """Store what a task left behind, where the files of later tasks are looked for."""
        if isinstance(verdict, HandedBack):
            return verdict
        prefix, blobs = artifacts_prefix(lease), self._engine.memory.blobs
        sizes = files_to_upload(
            folder,
            completed=verdict.completed,
            monotonic=self._engine.clock.monotonic,
            required=assignment.artifacts,
        )
        for name in sizes:
            content = folder.read(name, max_bytes=MAX_FILE_BYTES)
            blobs.put(f"{prefix}{name}", content, content_type=content_type_of(name))
        if verdict.completed:
            made = json.dumps(verdict.output, ensure_ascii=False).encode()
            blobs.put(f"{prefix}{RESULT_FILE}", made, content_type="application/json")
            verdict = with_required(verdict, assignment.artifacts, list(sizes))
        return verdict.changed(artifacts=prefix)

    def _run(self, lease: Lease, assignment: Assignment, folder: Path) -> TaskResult:
        """Run a task in its own folder, as a child does: there it finds its files."""
        printed = cast("io.TextIOBase", _WithoutMarks(sys.stdout))
        with contextlib.redirect_stdout(printed), contextlib.chdir(folder):
            if assignment.code is not None:
                try:
                    return CodeTask(assignment, assignment.code, folder).run()
                finally:
                    report_to(None)
            agent = self._agent
            agent.begin(lease.task.definition, assignment, folder)
            workflow = Workflow(assignment, folder, lambda _backend: agent, _ChecksHere())
            return workflow.run()


class _GuardHere:
    """Checks in this process what a worker checks in its guard process."""

    async def check_value(self, document: bytes, schema: Mapping[str, Any]) -> Finding:
        return examine_value(document, schema)

    async def check_outcome(
        self, document: bytes, schema: Mapping[str, Any] | None, redaction: Redaction
    ) -> Finding:
        return examine_outcome(document, schema, redaction)


class _ChecksHere(StepChecks):
    """Checks the outputs of steps in this process."""

    def check(self, step: Step, output: Any) -> None:
        if step.output_schema is None:
            return
        finding = examine_value(json.dumps(output).encode(), step.output_schema)
        if finding.wrong is not None:
            message = f"its output does not match its schema: {finding.message}"
            raise AgentFailed(FailureCategory.PARSE, message)


class _Longest:
    """Draws the longest pause, so that two runs of a test are the same."""

    def between(self, low: float, high: float) -> float:
        return max(low, high)


class _WithoutMarks:
    """Standard output without the lines by which a child reports to its worker."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._skips_end = False

    def write(self, text: str) -> int:
        if text.startswith(MARKER):
            self._skips_end = not text.endswith("\n")
        elif text == "\n" and self._skips_end:
            self._skips_end = False
        else:
            self._stream.write(text)
        return len(text)

    def fileno(self) -> int:
        raise io.UnsupportedOperation("fileno")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _settings(folder: Path) -> WorkerSettings:
    """Return a worker's settings with their defaults, whatever the environment says."""
    return WorkerSettings.model_construct(
        agent_backend="offline", output_folder=folder, ceilings=WIDEST_CEILINGS
    )


async def _no_sleep(_seconds: float) -> None:
    """Return at once: nothing in memory is ever unavailable."""


async def _at_once(call: Callable[..., R], *args: Any, **kwargs: Any) -> R:
    return call(*args, **kwargs)


def _ended(coroutine: Coroutine[Any, Any, R]) -> R:
    """Run a coroutine that never waits, also within an event loop of the test's own."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        result: R = end.value
        return result
    raise AssertionError("a coroutine of the worker waits for something")
