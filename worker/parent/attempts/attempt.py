"""One attempt at a claimed task, from its data to its verdict."""

import asyncio
from collections.abc import Awaitable, Mapping
from dataclasses import replace
from typing import Final, TypeVar

from switchyard.bootstrap import WorkerPorts
from switchyard.domain.access.credentials import CLAUDE_CREDENTIALS
from switchyard.domain.errors import Rejected, Unavailable
from switchyard.domain.tasks.failures import FailureCategory
from switchyard.domain.tasks.task import Task
from switchyard.observability import get_logger
from switchyard.ports import Claimed
from switchyard.settings import WorkerSettings
from switchyard.usecases.events import task_events
from worker.boundary import Assignment
from worker.guard.redaction import Redaction
from worker.parent.attempts.assignments import (
    NEEDS_CREDENTIAL,
    Assignments,
    check_input,
    input_document,
)
from worker.parent.attempts.child_outcome import Judge
from worker.parent.attempts.guard_client import Guard
from worker.parent.attempts.upload import AttemptFiles, artifacts_prefix
from worker.parent.attempts.verdict import (
    Failed,
    HandedBack,
    Verdict,
    ended_early,
    interrupted,
    out_of_time,
    without_secrets,
)
from worker.parent.claude.access import ClaudeProxy, allowance_for, counted
from worker.parent.claude.link import ClaudeAccess, NoAccess
from worker.parent.coroutines import first_of
from worker.parent.files.folder import TaskFolder
from worker.parent.files.removal import Removals
from worker.parent.files.users import SlotUser, SlotUsers
from worker.parent.health.machine import not_started
from worker.parent.health.stop import Stop
from worker.parent.receive.lease import Keepalive, Watched
from worker.parent.receive.rollout import Protection
from worker.parent.supervision.child_output import LastActivity
from worker.parent.supervision.supervisor import Ended, Run, Supervisor

logger = get_logger("worker")

DELAY_AFTER_OUTAGE_MS: Final = 10_000
JUDGING_SECONDS: Final = 30.0  # at least: a child may use all its time, and was paid for
COUNTED_MS: Final = 1_000  # what gathering takes at least, to shorten the child's time

R = TypeVar("R")


class Attempts:
    def __init__(
        self,
        ports: WorkerPorts,
        settings: WorkerSettings,
        *,
        supervisor: Supervisor,
        stop: Stop,
        protection: Protection,
        claude: ClaudeProxy | None,
        users: SlotUsers,
        removals: Removals,
    ) -> None:
        self._ports = ports
        self._settings = settings
        self._supervisor = supervisor
        self._stop = stop
        self._protection = protection
        self._claude = claude
        self._users = users
        self._removals = removals
        self._guard = Guard(
            clock=ports.clock, sleep=ports.sleep, host_environment=supervisor.host_environment
        )
        self._judge = Judge(guard=self._guard, offload=ports.offload)
        self._assignments = Assignments(
            ports, settings, credential=claude.credential if claude else None
        )

    async def keep_guard(self) -> None:
        """Until cancelled: then the process that checks schemas is ended."""
        await self._guard.keep()

    async def run(self, claimed: Claimed, keepalive: Keepalive) -> Verdict:
        """Raise `LeaseLost`, once nothing of the attempt runs any more.

        Raise as well whatever shows that the machine is in trouble.
        """
        running = asyncio.ensure_future(self._run(claimed, keepalive))
        await first_of({"verdict": running, "lease lost": keepalive.keep()})
        return without_secrets(running.result(), self.redaction)

    async def _run(self, claimed: Claimed, keepalive: Keepalive) -> Verdict:
        began = self._ports.clock.monotonic()
        try:
            allowed_ms = await self._ports.offload(self._assignments.timeout_ms, claimed.task)
            assignment = await self._unless_ended(
                self._gathered(claimed.task), seconds=allowed_ms / 1000, ends=self._ends(keepalive)
            )
        except Rejected as problem:
            return Failed(category=FailureCategory.VALIDATION, error=str(problem))
        except Unavailable as outage:
            reason = f"its data could not be read: {outage}"
            return HandedBack(reason=reason, delay_ms=DELAY_AFTER_OUTAGE_MS)
        spent_ms = round((self._ports.clock.monotonic() - began) * 1000)
        if isinstance(assignment, Ended):
            return ended_early(assignment, allowed_ms=allowed_ms, spent_ms=spent_ms)
        if spent_ms >= COUNTED_MS:
            assignment = replace(assignment, timeout_ms=max(1, allowed_ms - spent_ms))
        await self._protection.cover(claimed.lease, seconds=assignment.timeout_ms / 1000)
        if assignment.backend not in NEEDS_CREDENTIAL:
            return await self._run_in_folder(claimed, assignment, keepalive, access=None)
        return await self._run_with_claude(claimed, assignment, keepalive)

    async def _run_with_claude(
        self, claimed: Claimed, assignment: Assignment, keepalive: Keepalive
    ) -> Verdict:
        if self._claude is None:
            error = f"the {assignment.backend} backend needs {' or '.join(CLAUDE_CREDENTIALS)}"
            return Failed(category=FailureCategory.AUTH, error=error)
        try:
            access = await self._claude.access(allowance_for(assignment, self._settings))
        except NoAccess as problem:
            return Failed(category=problem.category, error=str(problem))
        try:
            return await self._run_in_folder(claimed, assignment, keepalive, access=access)
        finally:
            await access.revoke()

    async def _gathered(self, task: Task) -> Assignment:
        """Raise `Rejected`, `Unavailable` or `GuardUnavailable`."""
        assignment = await self._ports.offload(self._assignments.gather, task)
        schema = self._assignments.input_schema(task)
        if schema is not None:
            document = await self._ports.offload(input_document, assignment)
            await check_input(document, schema, self._guard)
        return assignment

    def _ends(self, keepalive: Keepalive) -> Mapping[Ended, asyncio.Event]:
        """What ends an attempt early, beside its deadline."""
        return {
            Ended.CANCELLED: keepalive.cancel_requested,
            Ended.HANDED_BACK: self._stop.grace_over,
        }

    async def _unless_ended(
        self, work: Awaitable[R], *, seconds: float, ends: Mapping[Ended, asyncio.Event]
    ) -> R | Ended:
        """What the work comes to, or what ended it. A thread's call cannot be ended: it is left."""
        working = asyncio.ensure_future(work)
        ended = await first_of(
            {
                Ended.BY_ITSELF: working,
                Ended.TIMED_OUT: self._ports.sleep(seconds),
                **{end: event.wait() for end, event in ends.items()},
            }
        )
        return working.result() if ended is Ended.BY_ITSELF else ended

    async def _run_in_folder(
        self,
        claimed: Claimed,
        assignment: Assignment,
        keepalive: Keepalive,
        *,
        access: ClaudeAccess | None,
    ) -> Verdict:
        try:
            folder = await self._folder(claimed)
        except OSError as problem:
            return not_started(problem)
        try:
            verdict = await self._conclude(claimed, assignment, folder, keepalive, access)
            if isinstance(verdict, HandedBack):  # there is little time left, nothing to explain
                return verdict
            files = AttemptFiles(
                self._ports, self._redaction(access), counted=access.usage if access else None
            )
            return await files.stored(verdict, folder, prefix=artifacts_prefix(claimed.lease))
        finally:
            if self._settings.delete_files_after_upload:
                await self._removals.remove(folder)
            else:
                folder.close()

    async def _folder(self, claimed: Claimed) -> TaskFolder:
        """Raise `OSError`."""
        user: SlotUser | None = self._users.take()
        try:
            return await self._ports.offload(
                TaskFolder.fresh, self._settings.output_folder, claimed.lease, user
            )
        except BaseException:
            self._users.give_back(user)
            raise

    @property
    def redaction(self) -> Redaction:
        """Knows the Claude key alone, for what belongs to no attempt."""
        return self._redaction(None)

    def _redaction(self, access: ClaudeAccess | None) -> Redaction:
        return Redaction(
            self._claude.credential.value if self._claude else None,
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
        allowed_ms = self._assignments.timeout_ms(claimed.task)
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
        activity = LastActivity(self._ports.clock)

        async def on_start(process_id: int) -> None:
            keepalive.watch(Watched(process_id, activity))
            await self._tell_started(claimed.task, process_id)

        return await self._supervisor.run(
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
        verdict = await self._judge.verdict(
            folder,
            exit_code=run.exit_code,
            duration_ms=run.duration_ms,
            schema=assignment.output_schema,
            redaction=redaction,
        )
        return out_of_time(verdict, timeout_ms=assignment.timeout_ms, ran_ms=run.duration_ms)

    async def _tell_started(self, task: Task, process_id: int) -> None:
        fact = task_events.started(task, worker_id=self._ports.worker_id, process_id=process_id)
        try:
            await self._ports.offload(self._ports.emitter.emit, fact)
        except Unavailable as outage:
            logger.warning("start is not told", extra={"error": str(outage)})
