"""One attempt at a claimed task, from its data to its verdict."""

import asyncio
from dataclasses import replace
from typing import Final

from switchyard.bootstrap import WorkerPorts
from switchyard.domain.access.credentials import CLAUDE_CREDENTIALS
from switchyard.domain.error_text import error_text
from switchyard.domain.errors import Rejected, Unavailable
from switchyard.domain.tasks.failures import FailureCategory
from switchyard.domain.tasks.task import Task
from switchyard.observability import get_logger
from switchyard.ports import Claimed
from switchyard.settings import WorkerSettings
from switchyard.usecases.events import task_events
from worker.activity import LastActivity
from worker.assignments import Assignments
from worker.backend import NEEDS_CREDENTIAL
from worker.child_environment import Credential
from worker.child_output import MAX_PRINTED_BYTES
from worker.folder import TaskFolder
from worker.heartbeats import Watched
from worker.keepalive import Keepalive
from worker.out_of_time import out_of_time
from worker.outcome import MAX_ERROR_CHARACTERS, judge
from worker.reclaiming import reclaim
from worker.redaction import Redaction
from worker.stopping import Stop
from worker.supervision import Ended, Run, Supervisor
from worker.task.assignment import Assignment
from worker.upload import Uploader, artifacts_prefix
from worker.verdict import (
    Cancelled,
    Completed,
    Conclusion,
    Failed,
    HandedBack,
    TimedOut,
    Verdict,
)
from worker.waiting import first_of

logger = get_logger("worker")

DELAY_AFTER_OUTAGE_MS: Final = 10_000
RESULT_ROUNDS: Final = 12
LONGEST_PAUSE_SECONDS: Final = 30.0


class Attempts:
    def __init__(
        self,
        ports: WorkerPorts,
        settings: WorkerSettings,
        *,
        supervisor: Supervisor,
        stop: Stop,
        credential: Credential | None,
    ) -> None:
        self._ports = ports
        self._settings = settings
        self._supervisor = supervisor
        self._stop = stop
        self._credential = credential
        self._redaction = Redaction(credential.value if credential else None)
        self._assignments = Assignments(ports, settings, credential=credential)
        self._uploader = Uploader(ports, self._redaction)

    async def run(self, claimed: Claimed, keepalive: Keepalive) -> Verdict:
        """Raise `LeaseLost`, once nothing of the attempt runs any more."""
        running = asyncio.ensure_future(self._run(claimed, keepalive))
        await first_of({"verdict": running, "lease lost": keepalive.keep()})
        return _safe_to_tell(running.result())

    async def _run(self, claimed: Claimed, keepalive: Keepalive) -> Verdict:
        try:
            assignment = await self._ports.offload(self._assignments.gather, claimed.task)
        except Rejected as problem:
            return Failed(category=FailureCategory.VALIDATION, error=str(problem))
        except Unavailable as outage:
            reason = f"its data could not be read: {outage}"
            return HandedBack(reason=reason, delay_ms=DELAY_AFTER_OUTAGE_MS)
        if assignment.backend in NEEDS_CREDENTIAL and self._credential is None:
            error = f"the {assignment.backend} backend needs {' or '.join(CLAUDE_CREDENTIALS)}"
            return Failed(category=FailureCategory.AUTH, error=error)
        return await self._run_in_folder(claimed, assignment, keepalive)

    async def _run_in_folder(
        self, claimed: Claimed, assignment: Assignment, keepalive: Keepalive
    ) -> Verdict:
        try:
            folder = TaskFolder.fresh(self._settings.output_folder, claimed.lease)
        except OSError as problem:
            return _not_started(problem)
        try:
            verdict = await self._conclude(claimed, assignment, folder, keepalive)
            if isinstance(verdict, HandedBack):  # there is little time left, nothing to explain
                return verdict
            return await self._with_its_files(verdict, folder, artifacts_prefix(claimed.lease))
        finally:
            if self._settings.delete_files_after_upload:
                await self._ports.offload(folder.remove)

    async def _conclude(
        self, claimed: Claimed, assignment: Assignment, folder: TaskFolder, keepalive: Keepalive
    ) -> Verdict:
        try:
            run = await self._supervise(claimed, assignment, folder, keepalive)
        except OSError as problem:
            return _not_started(problem)
        finally:  # also for an attempt whose lease is lost: its folder has to go
            await self._ports.offload(reclaim, folder.path, self._supervisor.host_environment)
        return await self._ports.offload(self._verdict, run, folder, assignment)

    async def _supervise(
        self, claimed: Claimed, assignment: Assignment, folder: TaskFolder, keepalive: Keepalive
    ) -> Run:
        activity = LastActivity(self._ports.clock)

        async def on_start(process_id: int) -> None:
            keepalive.watch(Watched(process_id, activity))
            await self._tell_started(claimed.task, process_id)

        return await self._supervisor.run(
            assignment,
            folder,
            credential=self._credential if assignment.backend in NEEDS_CREDENTIAL else None,
            activity=activity,
            interruptions={
                Ended.CANCELLED: keepalive.cancel_requested,
                Ended.HANDED_BACK: self._stop.grace_over,
            },
            on_start=on_start,
        )

    async def _with_its_files(
        self, verdict: Conclusion, folder: TaskFolder, prefix: str
    ) -> Conclusion:
        """Completed only once the result is durable; the rest is true without its files too."""
        completed = isinstance(verdict, Completed)
        if isinstance(verdict, Completed):
            try:
                await self._keep_result(verdict, prefix)
            except Unavailable as outage:
                return _lost(verdict, outage)
        try:
            uploaded = await self._uploader.upload(folder, prefix=prefix, completed=completed)
        except Unavailable as outage:
            logger.warning("files are not uploaded", extra={"key": prefix, "error": str(outage)})
            uploaded = False
        return replace(verdict, artifacts=prefix) if uploaded or completed else verdict

    async def _keep_result(self, verdict: Completed, prefix: str) -> None:
        """For minutes, if need be: it was paid for, and the lease is kept meanwhile."""
        for _ in range(RESULT_ROUNDS - 1):
            try:
                return await self._uploader.upload_result(verdict.output, prefix=prefix)
            except Unavailable as outage:
                fields = {"key": prefix, "error": str(outage)}
                logger.warning("result is not uploaded yet", extra=fields)
            await self._ports.sleep(self._ports.randomness.between(0, LONGEST_PAUSE_SECONDS))
        return await self._uploader.upload_result(verdict.output, prefix=prefix)

    def _verdict(self, run: Run, folder: TaskFolder, assignment: Assignment) -> Verdict:
        match run.ended:
            case Ended.CANCELLED:
                return Cancelled(duration_ms=run.duration_ms)
            case Ended.HANDED_BACK:
                return HandedBack(reason="the worker is stopping")
            case Ended.TIMED_OUT:
                return TimedOut(
                    timeout_ms=assignment.timeout_ms,
                    duration_ms=run.duration_ms,
                    signal=run.signal or "SIGTERM",
                )
            case Ended.PRINTED_TOO_MUCH:
                most = MAX_PRINTED_BYTES // 1_000_000
                return Failed(
                    category=FailureCategory.VALIDATION,
                    error=f"the child printed more than {most} MB",
                    duration_ms=run.duration_ms,
                    exit_code=run.exit_code,
                )
            case Ended.BY_ITSELF:
                verdict = judge(
                    folder.path,
                    exit_code=run.exit_code,
                    duration_ms=run.duration_ms,
                    schema=assignment.output_schema,
                    redaction=self._redaction,
                )
                return out_of_time(
                    verdict, timeout_ms=assignment.timeout_ms, ran_ms=run.duration_ms
                )

    async def _tell_started(self, task: Task, process_id: int) -> None:
        fact = task_events.started(task, worker_id=self._ports.worker_id, process_id=process_id)
        try:
            await self._ports.offload(self._ports.emitter.emit, fact)
        except Unavailable as outage:
            logger.warning("start is not told", extra={"error": str(outage)})


def _safe_to_tell(verdict: Verdict) -> Verdict:
    if not isinstance(verdict, Failed):
        return verdict
    return replace(verdict, error=error_text(verdict.error, max_characters=MAX_ERROR_CHARACTERS))


def _not_started(problem: OSError) -> Failed:
    return Failed(
        category=FailureCategory.SERVER_ERROR,  # another worker may be better off
        error=f"the child could not be started: {type(problem).__name__}: {problem}",
    )


def _lost(completed: Completed, outage: Unavailable) -> Failed:
    return Failed(
        category=FailureCategory.NETWORK,
        error=f"its result could not be uploaded: {outage}",
        usage=completed.usage,
        duration_ms=completed.duration_ms,
        exit_code=0,
    )
