"""Leases on the control items: one conditional write per transition."""

from collections.abc import Mapping, Sequence

from switchyard.adapters.dynamodb.items import (
    job_from,
    job_key,
    json_text,
    task_from,
    task_key,
)
from switchyard.adapters.dynamodb.payloads import fits_inline, write_of_output
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.transition_writes import TransitionWriter
from switchyard.adapters.dynamodb.values import Item
from switchyard.domain.commitments.results import CheckedCommitments
from switchyard.domain.errors import LeaseLost, Unavailable
from switchyard.domain.ids import TaskRef
from switchyard.domain.prompts.artifacts import RESULT_FILE
from switchyard.domain.states import TaskState
from switchyard.domain.tasks import transitions
from switchyard.domain.tasks.claim_refusals import Claimable, decide_claim
from switchyard.domain.tasks.task import Json, Lease, LifeSigns, Outcome, Task
from switchyard.domain.transition import TransitionRefused
from switchyard.ports import Claimed, ClaimRefused, Seen


class DynamoDbTaskLeases:
    def __init__(self, table: DynamoDbTable) -> None:
        self._table = table
        self._writer = TransitionWriter(table)

    def look_at(self, refs: Sequence[TaskRef]) -> Mapping[TaskRef, Seen]:
        tasks = {task_key(ref): ref for ref in refs}
        jobs = {job_key(ref.job): ref.job for ref in refs}
        items = {(item["PK"], item["SK"]): item for item in self._table.get_many([*tasks, *jobs])}
        found = {ref: task_from(items[key], ref.job) for key, ref in tasks.items() if key in items}
        read_jobs = {
            ref: job_from(items[key], ref.tenant) for key, ref in jobs.items() if key in items
        }
        return {
            ref: Seen(task, ref.job in read_jobs and read_jobs[ref.job].cancels(task))
            for ref, task in found.items()
        }

    def claim(
        self, ref: TaskRef, *, owner: str, now_ms: int, lease_ms: int
    ) -> Claimed | ClaimRefused | None:
        claim = transitions.claim(owner=owner, now_ms=now_ms, lease_ms=lease_ms)
        answer = self._writer.write_task_surely(ref, claim)
        if isinstance(answer, TransitionRefused):
            return _not_claimed(answer.found, now_ms)
        return Claimed(answer, Lease(answer, owner))

    def renew(self, lease: Lease, *, lease_until_ms: int, signs: LifeSigns | None = None) -> Task:
        renewal = transitions.renew(lease, lease_until_ms=lease_until_ms, signs=signs)
        return _still_ours(lease, self._writer.write_task_surely(lease.ref, renewal))

    def settle(
        self,
        lease: Lease,
        outcome: Outcome,
        *,
        output: Json,
        now_ms: int,
        checked: CheckedCommitments | None = None,
    ) -> Task:
        settlement = transitions.settle(lease, outcome, now_ms=now_ms, checked=checked)
        if outcome.state is not TaskState.COMPLETED:
            return _still_ours(lease, self._writer.write_task_surely(lease.ref, settlement))
        output_too = write_of_output(lease.ref, _stored_output(outcome, output))
        answer = self._writer.write_task_with(lease.task, settlement, output_too)
        return _still_ours(lease, answer)

    def release(
        self,
        lease: Lease,
        *,
        not_before_ms: int,
        now_ms: int,
        give_attempt_back: bool,
        error: str | None = None,
        checked: CheckedCommitments | None = None,
        queue: str | None = None,
    ) -> Task:
        release = transitions.release(
            lease,
            not_before_ms=not_before_ms,
            now_ms=now_ms,
            give_attempt_back=give_attempt_back,
            error=error,
            checked=checked,
            queue=queue,
        )
        return _still_ours(lease, self._writer.write_task_surely(lease.ref, release))

    def give_up(self, task: Task, outcome: Outcome, *, now_ms: int) -> Task | None:
        giving_up = transitions.give_up(task, outcome, now_ms=now_ms)
        answer = self._writer.write_task_surely(task.ref, giving_up)
        return answer if isinstance(answer, Task) else None


def _stored_output(outcome: Outcome, output: Json) -> Item:
    """Store small outputs in the item; larger ones stay in the bucket."""
    text = json_text(output)
    if fits_inline(text) or outcome.artifacts is None:
        return {"output": text}
    return {"output_key": f"{outcome.artifacts}{RESULT_FILE}"}


def _not_claimed(task: Task | None, now_ms: int) -> ClaimRefused | None:
    if task is None:
        return None
    decision = decide_claim(task, now_ms=now_ms)
    if isinstance(decision, Claimable):
        raise Unavailable(f"{task.ref.request_id} was refused, though {decision.reason}")
    return ClaimRefused(task, decision)


def _still_ours(lease: Lease, answer: Task | TransitionRefused[Task]) -> Task:
    if isinstance(answer, Task):
        return answer
    found = answer.found
    is_now = f"{found.state} at fence {found.fence}" if found else "gone"
    raise LeaseLost(f"{lease.ref.request_id} is {is_now}, ours was {lease.fence}")
