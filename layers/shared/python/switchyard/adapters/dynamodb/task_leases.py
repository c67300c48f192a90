"""Leases on the control items: one conditional write per transition."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from switchyard.adapters.dynamodb.items import (
    job_from,
    job_key,
    json_text,
    task_from,
    task_key,
)
from switchyard.adapters.dynamodb.payloads import fits_inline, write_of_output
from switchyard.adapters.dynamodb.scheduling.start_limits import Places
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.transition_writes import TransitionWriter, Write
from switchyard.adapters.dynamodb.values import Item
from switchyard.domain.commitments.results import CheckedCommitments
from switchyard.domain.errors import LeaseLost, Unavailable
from switchyard.domain.ids import TaskRef
from switchyard.domain.prompts.artifacts import RESULT_FILE
from switchyard.domain.states import TaskState
from switchyard.domain.tasks import transitions
from switchyard.domain.tasks.claim_refusals import Claimable, decide_claim, limit_full
from switchyard.domain.tasks.task import Json, Lease, LifeSigns, Outcome, Task
from switchyard.domain.transition import Transition, TransitionRefused
from switchyard.ports import Claimed, ClaimRefused, Seen

TRIES: Final = 5
"""The tries of a claim under limits, each after the task or a limit has changed."""


@dataclass(frozen=True, slots=True)
class _Claim:
    owner: str
    now_ms: int
    lease_ms: int

    def transition(self, limited: Task | None = None) -> Transition:
        return transitions.claim(
            owner=self.owner, now_ms=self.now_ms, lease_ms=self.lease_ms, limited=limited
        )

    def claimed(self, task: Task) -> Claimed:
        return Claimed(task, Lease(task, self.owner))


class DynamoDbTaskLeases:
    def __init__(self, table: DynamoDbTable) -> None:
        self._table = table
        self._writer = TransitionWriter(table)
        self._places = Places(table)

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
        self,
        ref: TaskRef,
        *,
        owner: str,
        now_ms: int,
        lease_ms: int,
        limits: Sequence[str] = (),
    ) -> Claimed | ClaimRefused | None:
        asked = _Claim(owner, now_ms, lease_ms)
        if limits:
            return self._claim_limited(self._writer.find(ref), asked)
        return self._claim_unlimited(ref, asked)

    def _claim_unlimited(self, ref: TaskRef, asked: _Claim) -> Claimed | ClaimRefused | None:
        answer = self._writer.write_task_surely(ref, asked.transition())
        if isinstance(answer, Task):
            return asked.claimed(answer)
        found = answer.found
        if found is not None and found.limits:
            return self._claim_limited(found, asked)
        return _not_claimed(found, asked.now_ms)

    def _claim_limited(self, task: Task | None, asked: _Claim) -> Claimed | ClaimRefused | None:
        """Claim a task as it was read, with a place of each limit, in one transaction."""
        for _ in range(TRIES):
            if task is None or not task.limits:
                return self._claim_unlimited(task.ref, asked) if task else None
            decision = decide_claim(task, now_ms=asked.now_ms)
            claim = asked.transition(limited=task)
            if claim.was_written_to(task):
                return asked.claimed(task)
            if not isinstance(decision, Claimable):
                return ClaimRefused(task, decision)
            places = self._places.taken(task, now_ms=asked.now_ms)
            answer = self._writer.write_task_with(task, claim, *places)
            if isinstance(answer, Task):
                return asked.claimed(answer)
            task = answer.found
            full = task and self._places.first_full(task, now_ms=asked.now_ms)
            if task and full and task.limits:
                return _full_or_refused(task, full.name, asked.now_ms)
        raise Unavailable(f"the limits of {task.ref.request_id if task else 'it'} are contended")

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
            return _still_ours(lease, self._end(lease.task, settlement))
        output_too = write_of_output(lease.ref, _stored_output(outcome, output))
        return _still_ours(lease, self._end(lease.task, settlement, output_too))

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
        return _still_ours(lease, self._end(lease.task, release))

    def give_up(self, task: Task, outcome: Outcome, *, now_ms: int) -> Task | None:
        giving_up = transitions.give_up(task, outcome, now_ms=now_ms)
        if task.state is TaskState.PROCESSING:
            answer = self._end(task, giving_up)
        else:
            answer = self._writer.write_task_surely(task.ref, giving_up)
        return answer if isinstance(answer, Task) else None

    def _end(
        self, task: Task, transition: Transition, *others: Write
    ) -> Task | TransitionRefused[Task]:
        """End a lease, with the places that the task has, and with what else is written."""
        together = (*others, *self._places.given_back(task))
        if not together:
            return self._writer.write_task_surely(task.ref, transition)
        return self._writer.write_task_with(task, transition, *together)


def _full_or_refused(task: Task, name: str, now_ms: int) -> ClaimRefused:
    decision = decide_claim(task, now_ms=now_ms)
    refused = limit_full(name) if isinstance(decision, Claimable) else decision
    return ClaimRefused(task, refused)


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
