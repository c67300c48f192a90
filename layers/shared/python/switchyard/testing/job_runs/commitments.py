"""Checks commitments without processes of their own, as a test of a job needs it.

Files, outputs and commands are checked for real. URLs are not asked: a test has no network. A
rubric is met, unless the task's input scripts its grader.
"""

import subprocess
from dataclasses import replace
from typing import Any, cast

from switchyard.contracts.commitments import Commitment
from switchyard.domain.tasks.task import Lease, Usage
from switchyard.testing.transport import MemoryWebProbe
from switchyard_worker.boundary import Assignment
from switchyard_worker.guard.redaction import Redaction
from switchyard_worker.parent.attempts.commitment_checks import Claim, CommitmentChecks
from switchyard_worker.parent.attempts.commitment_evidence import Found
from switchyard_worker.parent.attempts.grader import Grade, Graded, Grader, scripted
from switchyard_worker.parent.attempts.guard_client import GuardClient
from switchyard_worker.parent.attempts.verdict import Concluded
from switchyard_worker.parent.coroutines import Runtime
from switchyard_worker.parent.files.folder import TaskFolder
from switchyard_worker.parent.supervision.child_output import Excerpt
from switchyard_worker.parent.supervision.supervisor import Ended, Run, Supervisor


async def found_of(
    verdict: Concluded,
    assignment: Assignment,
    folder: TaskFolder,
    lease: Lease,
    *,
    runtime: Runtime,
    guard: GuardClient,
) -> Found | None:
    """Check the commitments of a task that claims success; `None` if there are none to check."""
    commitments = [one for one in assignment.commitments if one["kind"] != "http"]
    if not verdict.completed or not commitments:
        return None
    checks = CommitmentChecks(
        runtime=runtime,
        guard=guard,
        supervisor=cast("Supervisor", _CommandsHere()),
        web=MemoryWebProbe(),
        grader=cast("Grader", _GraderHere()),
    )
    checked = replace(assignment, commitments=commitments)
    return await checks.check(Claim(checked, folder, lease, Redaction(), verdict.output))


class _CommandsHere:
    async def run_command(
        self,
        command: tuple[str, ...],
        _assignment: Assignment,
        folder: TaskFolder,
        *,
        timeout_ms: int,
        excerpt: Excerpt,
        **_more: Any,
    ) -> Run:
        ended, code = Ended.BY_ITSELF, 127
        try:
            done = subprocess.run(  # noqa: ASYNC221 - one task at a time
                command,
                cwd=folder.path,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=timeout_ms / 1000,
                check=False,
            )
            code = done.returncode
            excerpt.write(done.stdout.decode("utf-8", "replace"))
        except subprocess.TimeoutExpired:
            ended = Ended.TIMED_OUT
        except OSError as problem:
            excerpt.write(f"{command[0]} cannot be started: {problem.strerror}")
        return Run(ended=ended, exit_code=code, duration_ms=0)


class _GraderHere:
    async def grade(
        self, commitment: Commitment, _graded: Graded, of: Assignment, *_more: Any
    ) -> Grade:
        answer = scripted(commitment, of.input).get("output") or {}
        met, reason = bool(answer.get("met")), str(answer.get("reason", ""))
        return Grade(met, reason, usage=Usage())
