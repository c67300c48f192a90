"""Runs one attempt at a claimed task, from its data to its verdict."""

import asyncio
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from switchyard.domain.access.credentials import CLAUDE_CREDENTIALS
from switchyard.domain.errors import Rejected, Unavailable
from switchyard.domain.tasks.failures import FailureCategory
from switchyard.domain.tasks.task import Task
from switchyard.observability import get_logger
from switchyard.ports import BlobStore, Claimed
from switchyard.settings import WorkerSettings
from switchyard.usecases.events import task_events
from switchyard.usecases.events.emitting import Emitter
from switchyard_worker.boundary import Assignment
from switchyard_worker.guard.redaction import Redaction
from switchyard_worker.parent.attempts.assignments import (
    Assignments,
    check_input,
    input_document,
)
from switchyard_worker.parent.attempts.backends import NEEDS_CREDENTIAL
from switchyard_worker.parent.attempts.child_outcome import Judge
from switchyard_worker.parent.attempts.commitment_checks import Claim, CommitmentChecks, seconds_for
from switchyard_worker.parent.attempts.functions import NotServed, left_to_others
from switchyard_worker.parent.attempts.guard_client import GuardClient
from switchyard_worker.parent.attempts.inputs import not_placed, not_read, place_inputs
from switchyard_worker.parent.attempts.upload import AttemptFiles, artifacts_prefix
from switchyard_worker.parent.attempts.verdict import (
    HandedBack,
    Verdict,
    at_deadline,
    ended_early,
    failed,
    interrupted,
    without_secrets,
)
from switchyard_worker.parent.claude.access import ClaudeProxy, allowance_for, counted
from switchyard_worker.parent.claude.link import ClaudeAccess, NoAccess
from switchyard_worker.parent.coroutines import Runtime, first_of
from switchyard_worker.parent.files.attempt_folders import AttemptFolders
from switchyard_worker.parent.files.folder import TaskFolder
from switchyard_worker.parent.health.machine import not_started
from switchyard_worker.parent.health.stop import Stop
from switchyard_worker.parent.receive.lease import Keepalive, Watched
from switchyard_worker.parent.receive.rollout import Protection
from switchyard_worker.parent.supervision.child_output import LastActivity
from switchyard_worker.parent.supervision.supervisor import Ended, Run, Supervisor, unless_ended

logger = get_logger("worker")

JUDGING_SECONDS: Final = 30.0  # at least: a child may use all its time, and was paid for
COUNTED_MS: Final = 1_000  # what gathering takes at least, to shorten the child's time

R = TypeVar("R")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildAttempts:
    """Runs attempts, each in a child process."""

    runtime: Runtime
    settings: WorkerSettings
    assignments: Assignments
    guard: GuardClient
    checks: CommitmentChecks
    supervisor: Supervisor
    folders: AttemptFolders
    claude: ClaudeProxy | None
    blobs: BlobStore
    emitter: Emitter
    worker_id: str
    protection: Protection
    stop: Stop

    async def run(self, claimed: Claimed, keepalive: Keepalive) -> Verdict:
        """Raise `LeaseLost`, once nothing of the attempt runs any more.

        Raise as well whatever shows that the machine is in trouble.
        """
        running = asyncio.ensure_future(self._run(claimed, keepalive))
        await first_of({"verdict": running, "lease lost": keepalive.keep()})
        return without_secrets(running.result(), self.redaction)

    async def _run(self, claimed: Claimed, keepalive: Keepalive) -> Verdict:
        began = self.runtime.clock.monotonic()
        try:
            allowed_ms = await self.runtime.offload(self.assignments.timeout_ms, claimed.task)
            assignment = await self._unless_ended(
                self._gathered(claimed.task), seconds=allowed_ms / 1000, ends=self._ends(keepalive)
            )
        except Rejected as problem:
            return failed(category=FailureCategory.VALIDATION, error=str(problem))
        except NotServed as missing:
            return left_to_others(claimed.task, missing, self.runtime)
        except Unavailable as outage:
            return not_read(outage)
        spent_ms = round((self.runtime.clock.monotonic() - began) * 1000)
        if isinstance(assignment, Ended):
            return ended_early(assignment, allowed_ms=allowed_ms, spent_ms=spent_ms)
        if spent_ms >= COUNTED_MS:
            assignment = replace(assignment, timeout_ms=max(1, allowed_ms - spent_ms))
        seconds = assignment.timeout_ms / 1000 + seconds_for(assignment)
        await self.protection.cover(claimed.lease, seconds=seconds)
        if assignment.backend not in NEEDS_CREDENTIAL:
            return await self._run_in_folder(claimed, assignment, keepalive, access=None)
        return await self._run_with_claude(claimed, assignment, keepalive)

    async def _run_with_claude(
        self, claimed: Claimed, assignment: Assignment, keepalive: Keepalive
    ) -> Verdict:
        if self.claude is None:
            error = f"the {assignment.backend} backend needs {' or '.join(CLAUDE_CREDENTIALS)}"
            return failed(category=FailureCategory.AUTH, error=error)
        try:
            access = await self.claude.access(allowance_for(assignment, self.settings))
        except NoAccess as problem:
            return failed(category=problem.category, error=str(problem))
        try:
            return await self._run_in_folder(claimed, assignment, keepalive, access=access)
        finally:
            await access.revoke()

    async def _gathered(self, task: Task) -> Assignment:
        """Raise `Rejected`, `Unavailable` or `GuardUnavailable`."""
        assignment = await self.runtime.offload(self.assignments.gather, task)
        schema = self.assignments.input_schema(task)
        if schema is not None:
            document = await self.runtime.offload(input_document, assignment)
            await check_input(document, schema, self.guard)
        return assignment

    def _ends(self, keepalive: Keepalive) -> Mapping[Ended, asyncio.Event]:
        """Return the events that end an attempt early, beside its deadline."""
        return {
            Ended.CANCELLED: keepalive.cancel_requested,
            Ended.HANDED_BACK: self.stop.grace_over,
        }

    async def _unless_ended(
        self, work: Awaitable[R], *, seconds: float, ends: Mapping[Ended, asyncio.Event]
    ) -> R | Ended:
        return await unless_ended(work, sleep=self.runtime.sleep, seconds=seconds, ends=ends)

    async def _run_in_folder(
        self,
        claimed: Claimed,
        assignment: Assignment,
        keepalive: Keepalive,
        *,
        access: ClaudeAccess | None,
    ) -> Verdict:
        try:
            folder = await self.folders.make(claimed.lease)
        except OSError as problem:
            return not_started(problem)
        try:
            placed = await self._placed(assignment, folder, keepalive)
            if not isinstance(placed, Assignment):
                return placed
            verdict = await self._conclude(claimed, placed, folder, keepalive, access)
            redaction = self._redaction(access)
            claim = Claim(placed, folder, claimed.lease, redaction)
            verdict, found = await self.checks.of(verdict, claim, self._ends(keepalive))
            if isinstance(verdict, HandedBack):  # there is little time left, nothing to explain
                return verdict
            files = AttemptFiles(
                self.runtime, self.blobs, redaction, counted=access.usage if access else None
            )
            prefix = artifacts_prefix(claimed.lease)
            return await files.stored(
                verdict,
                folder,
                prefix=prefix,
                required=assignment.artifacts,
                found=found,
                committed=claim.patterns,
            )
        finally:
            await self.folders.remove(folder)

    async def _placed(
        self, assignment: Assignment, folder: TaskFolder, keepalive: Keepalive
    ) -> Assignment | Verdict:
        """Place the task's files; return the assignment with the time that is left, or why not."""
        if not assignment.inputs:
            return assignment
        began, allowed_ms = self.runtime.clock.monotonic(), assignment.timeout_ms
        placing = place_inputs(self.runtime, self.blobs, folder, assignment.inputs)
        try:
            ended = await self._unless_ended(
                placing, seconds=allowed_ms / 1000, ends=self._ends(keepalive)
            )
        except (Rejected, Unavailable, OSError) as problem:
            return not_placed(problem)
        spent_ms = round((self.runtime.clock.monotonic() - began) * 1000)
        if isinstance(ended, Ended):
            return ended_early(ended, allowed_ms=allowed_ms, spent_ms=spent_ms)
        return replace(assignment, timeout_ms=max(1, allowed_ms - spent_ms))

    @property
    def redaction(self) -> Redaction:
        """Return what removes the Claude key from texts that belong to no attempt."""
        return self._redaction(None)

    def _redaction(self, access: ClaudeAccess | None) -> Redaction:
        return Redaction(
            self.claude.credential.value if self.claude else None,
            access.given.token if access else None,
        )

    async def _conclude(
        self,
        claimed: Claimed,
        assignment: Assignment,
        folder: TaskFolder,
        keepalive: Keepalive,
        access: ClaudeAccess | None,
    ) -> Verdict:
        try:
            run = await self._supervise(claimed, assignment, folder, keepalive, access)
        except OSError as problem:
            return not_started(problem)
        finally:
            if access:
                await access.revoke()
        allowed_ms = self.assignments.timeout_ms(claimed.task)
        verdict = await self._unless_ended(
            self._verdict(run, folder, assignment, allowed_ms, self._redaction(access)),
            seconds=max(JUDGING_SECONDS, (assignment.timeout_ms - run.duration_ms) / 1000),
            ends={Ended.CANCELLED: keepalive.cancel_requested},
        )
        if isinstance(verdict, Ended):
            verdict = ended_early(verdict, allowed_ms=allowed_ms, spent_ms=run.duration_ms)
        return counted(verdict, access) if access else verdict

    async def _supervise(
        self,
        claimed: Claimed,
        assignment: Assignment,
        folder: TaskFolder,
        keepalive: Keepalive,
        access: ClaudeAccess | None,
    ) -> Run:
        activity = LastActivity(self.runtime.clock)

        async def on_start(process_id: int) -> None:
            keepalive.watch(Watched(process_id, activity))
            await self._emit_started(claimed, process_id)

        return await self.supervisor.run(
            assignment,
            folder,
            access=access.given if access else None,
            redaction=self._redaction(access),
            activity=activity,
            interruptions={
                **self._ends(keepalive),
                **({Ended.CLAUDE_LOST: access.lost} if access else {}),
            },
            on_start=on_start,
        )

    async def _verdict(
        self,
        run: Run,
        folder: TaskFolder,
        assignment: Assignment,
        allowed_ms: int,
        redaction: Redaction,
    ) -> Verdict:
        if run.ended is not Ended.BY_ITSELF:
            return interrupted(run, allowed_ms=allowed_ms)
        judge = Judge(guard=self.guard, offload=self.runtime.offload)
        concluded = await judge.verdict(
            folder,
            exit_code=run.exit_code,
            duration_ms=run.duration_ms,
            schema=assignment.output_schema,
            redaction=redaction,
        )
        return at_deadline(concluded, timeout_ms=assignment.timeout_ms, ran_ms=run.duration_ms)

    async def _emit_started(self, claimed: Claimed, process_id: int) -> None:
        fact = task_events.started(claimed.task, worker_id=self.worker_id, process_id=process_id)
        try:
            await self.runtime.offload(self.emitter.emit, fact)
        except Unavailable as outage:
            logger.warning("start is not emitted", extra={"error": str(outage)})
