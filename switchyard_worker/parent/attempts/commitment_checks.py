"""Checks the commitments of an attempt that claims success, before anything of it is settled.

All processes of the attempt have ended by then. Commands run first, since they may write files;
what costs money comes last, and only if everything else is met.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from switchyard.contracts.commitments import Commitment, named
from switchyard.domain.commitments.results import (
    MAX_REASON,
    CheckedCommitments,
    CommitmentResult,
)
from switchyard.domain.errors import Unavailable
from switchyard.domain.jobs.condition_parser import parse_condition
from switchyard.domain.jobs.conditions import Holds, evaluate
from switchyard.domain.tasks.failures import FailureCategory
from switchyard.domain.tasks.task import Json, Lease, Usage
from switchyard.ports.web import WebProbe
from switchyard_worker.boundary import Assignment
from switchyard_worker.guard.redaction import Redaction
from switchyard_worker.guard.starting import GuardUnavailable
from switchyard_worker.parent.attempts.commitment_evidence import (
    Evidence,
    Found,
    NotChecked,
    added,
    digest_of,
    not_checked,
    with_found,
)
from switchyard_worker.parent.attempts.file_commitments import LeftFiles
from switchyard_worker.parent.attempts.grader import Graded, Grader, GraderFailed, beginnings
from switchyard_worker.parent.attempts.guard_client import GuardClient
from switchyard_worker.parent.attempts.verdict import HandedBack, Verdict, ended_early
from switchyard_worker.parent.coroutines import Runtime
from switchyard_worker.parent.files.confined import NotReadable
from switchyard_worker.parent.files.folder import TaskFolder
from switchyard_worker.parent.supervision.child_output import Excerpt
from switchyard_worker.parent.supervision.supervisor import (
    Ended,
    Run,
    Supervisor,
    unless_ended,
)

MAX_PRINTED: Final = 4_000
MARGIN_SECONDS: Final = 120.0
"""For files, schemas and the starts of children, beside what each commitment may take."""
_ORDER: Final = ("command", "output", "file", "http", "rubric")
_NOT_ASKED: Final = Evidence(
    met=False, reason="no grader was asked, since other commitments are not met"
)
_HOW_IT_ENDED: Final = {
    Ended.TIMED_OUT: "it took longer than {timeout_ms} ms",
    Ended.PRINTED_TOO_MUCH: "it printed too much",
    Ended.USED_TOO_MUCH: "it used too much: {problem}",
}


@dataclass(frozen=True, slots=True)
class Claim:
    """An attempt that may claim success, and where its files are."""

    assignment: Assignment
    folder: TaskFolder
    lease: Lease
    redaction: Redaction
    output: Json = None

    @property
    def commitments(self) -> Mapping[str, Commitment]:
        return named(tuple(map(Commitment.model_validate, self.assignment.commitments)))

    @property
    def patterns(self) -> list[str]:
        """Return the patterns of the files that it has committed to."""
        return [one.path for one in self.commitments.values() if one.path]


def seconds_for(assignment: Assignment) -> float:
    """Return how long the check of all commitments may take."""
    if not assignment.commitments:
        return 0.0
    each = [Commitment.model_validate(one).timeout_ms for one in assignment.commitments]
    return sum(each) / 1000 + MARGIN_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitmentChecks:
    runtime: Runtime
    guard: GuardClient
    supervisor: Supervisor
    web: WebProbe
    grader: Grader

    async def of(
        self, verdict: Verdict, claim: Claim, ends: Mapping[Ended, asyncio.Event]
    ) -> tuple[Verdict, Found | None]:
        """Check what an attempt has committed to if it completed; return what becomes of it."""
        if isinstance(verdict, HandedBack) or not verdict.completed:
            return verdict, None
        if not claim.assignment.commitments:
            return verdict, None
        checking = self.check(replace(claim, output=verdict.output))
        seconds = seconds_for(claim.assignment)
        try:
            found = await unless_ended(
                checking, sleep=self.runtime.sleep, seconds=seconds, ends=ends
            )
        except NotChecked as problem:
            return not_checked(verdict, problem), None
        if isinstance(found, Ended):
            spent_ms = verdict.outcome.duration_ms
            return ended_early(found, allowed_ms=round(seconds * 1000), spent_ms=spent_ms), None
        return with_found(verdict, found), found

    async def check(self, claim: Claim) -> Found:
        """Raise `NotChecked`."""
        user = claim.folder.user
        if user and not await self.supervisor.children.is_ended(user):
            message = "processes of the attempt are still there"
            raise NotChecked(FailureCategory.SERVER_ERROR, message)
        checking = _Checking(self, claim)
        try:
            return await checking.all_of_them()
        except GuardUnavailable as problem:
            raise NotChecked(
                FailureCategory.SERVER_ERROR, str(problem), usage=checking.usage
            ) from problem
        except OSError as problem:
            message = f"no process can be started: {problem.strerror or problem}"
            raise NotChecked(
                FailureCategory.SERVER_ERROR, message, usage=checking.usage
            ) from problem
        except GraderFailed as failure:
            raise NotChecked(
                failure.category,
                f"the grader failed: {failure}",
                usage=added(checking.usage, failure.usage),
                retry_after_ms=failure.retry_after_ms,
            ) from failure


@dataclass(slots=True)
class _Checking:
    """One check of all commitments of an attempt."""

    with_: CommitmentChecks
    claim: Claim
    usage: Usage = field(default_factory=Usage)
    _files: LeftFiles | None = None
    _shown: Graded | None = None
    _read: dict[str, str] = field(default_factory=dict)

    async def all_of_them(self) -> Found:
        commitments = self.claim.commitments
        evidence: dict[str, Evidence] = {}
        took: dict[str, int] = {}
        clock = self.with_.runtime.clock
        for name in sorted(commitments, key=lambda one: _ORDER.index(commitments[one].kind)):
            began = clock.monotonic()
            met = all(found.met for found in evidence.values())
            evidence[name] = await self._one(commitments[name], len(evidence), others_met=met)
            took[name] = round((clock.monotonic() - began) * 1000)
        results = [
            CommitmentResult(
                name=name,
                kind=one.kind,
                met=evidence[name].met,
                reason=self._clean(evidence[name].reason),
                duration_ms=took[name],
            )
            for name, one in commitments.items()
        ]
        checked = CheckedCommitments(self.claim.assignment.attempt, tuple(results))
        return Found(checked=checked, evidence=evidence, usage=self.usage)

    def _clean(self, reason: str) -> str:
        """Make a reason safe to store, to publish and to show on one line."""
        return " ".join(self.claim.redaction.error(reason).split())[:MAX_REASON]

    async def _one(self, commitment: Commitment, number: int, *, others_met: bool) -> Evidence:
        match commitment.kind:
            case "command":
                return await self._command(commitment)
            case "output":
                return await self.with_.runtime.offload(_judged, commitment, self.claim)
            case "file":
                return await (await self._left()).check(commitment)
            case "http":
                return await self._http(commitment)
        return await self._rubric(commitment, number) if others_met else _NOT_ASKED

    async def _left(self) -> LeftFiles:
        if self._files is None:
            self._files = await LeftFiles.found(
                self.with_.runtime,
                self.with_.guard,
                self.claim.folder,
                self.claim.redaction,
                required=[*self.claim.patterns, *self.claim.assignment.artifacts],
            )
        return self._files

    async def _command(self, commitment: Commitment) -> Evidence:
        excerpt = Excerpt(MAX_PRINTED)
        run = await self.with_.supervisor.run_command(
            commitment.command or (),
            self.claim.assignment,
            self.claim.folder,
            timeout_ms=commitment.timeout_ms,
            redaction=self.claim.redaction,
            excerpt=excerpt,
        )
        met = run.ended is Ended.BY_ITSELF and run.exit_code == 0
        said = _how_it_ended(run, commitment.timeout_ms)
        last = "" if met or not excerpt.text.strip() else f"; it printed: {excerpt.text[-200:]}"
        return Evidence(met=met, reason=f"{said}{last}", printed=excerpt.text)

    async def _http(self, commitment: Commitment) -> Evidence:
        method, wanted = commitment.method or "GET", commitment.status or 200
        try:
            status = await self.with_.runtime.offload(
                self.with_.web.status,
                commitment.url or "",
                method=method,
                seconds=commitment.timeout_ms / 1000,
            )
        except Unavailable as problem:
            return Evidence(met=False, reason=f"{method} {commitment.url}: {problem}")
        said = f"{method} {commitment.url} answered {status}"
        return Evidence(
            met=status == wanted, reason=said if status == wanted else f"{said}, not {wanted}"
        )

    async def _rubric(self, commitment: Commitment, number: int) -> Evidence:
        graded = await self._graded()
        grade = await self.with_.grader.grade(
            commitment, graded, self.claim.assignment, self.claim.lease, number
        )
        self.usage = added(self.usage, grade.usage)
        return Evidence(met=grade.met, reason=grade.reason, files=self._read)

    async def _graded(self) -> Graded:
        """Read what graders are shown; what is uploaded has to be the same."""
        if self._shown is None:
            left = await self._left()
            contents, self._read = await self.with_.runtime.offload(_contents, left)
            self._shown = Graded(output=self.claim.output, files=beginnings(contents))
        return self._shown


def _contents(left: LeftFiles) -> tuple[list[tuple[str, bytes]], dict[str, str]]:
    """Return the beginnings of all files, and the digests of their whole contents."""
    contents, digests = [], {}
    for name in left.names:
        try:
            content = left.read(name)
        except (NotReadable, FileNotFoundError):
            continue
        digests[name] = digest_of(content)
        contents.append((name, content[:100_000]))
    return contents, digests


def _judged(commitment: Commitment, claim: Claim) -> Evidence:
    """Evaluate a condition; what cannot be judged does not hold."""
    condition = parse_condition(commitment.condition or "", own=True)
    values = {"output": claim.output, "input": claim.assignment.input}
    judgement = evaluate(condition, values)
    return Evidence(met=isinstance(judgement, Holds), reason=judgement.reason)


def _how_it_ended(run: Run, timeout_ms: int) -> str:
    if run.ended is not Ended.BY_ITSELF:
        text = _HOW_IT_ENDED.get(run.ended, "it was ended")
        return text.format(timeout_ms=f"{timeout_ms:,}", problem=run.problem)
    if run.exit_code < 0:
        return f"signal {-run.exit_code} ended it"
    return f"exit code {run.exit_code}"
