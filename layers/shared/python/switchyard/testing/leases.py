"""Leases, in memory."""

from collections.abc import Mapping, Sequence

from switchyard.domain.commitments.results import CheckedCommitments
from switchyard.domain.errors import LeaseLost, Unavailable
from switchyard.domain.ids import TaskRef
from switchyard.domain.scheduling.places import first_full, places_given_back, places_taken
from switchyard.domain.states import TaskState
from switchyard.domain.tasks import transitions
from switchyard.domain.tasks.claim_refusals import (
    Busy,
    Claimable,
    Done,
    Exhausted,
    Flagged,
    LimitFull,
    NotYet,
    decide_claim,
    limit_full,
)
from switchyard.domain.tasks.task import Json, Lease, LifeSigns, Outcome, Task
from switchyard.domain.transition import Transition
from switchyard.ports import Claimed, ClaimRefused, Seen
from switchyard.testing.state import MemoryState


class MemoryTaskLeases:
    def __init__(self, state: MemoryState) -> None:
        self._state = state

    def look_at(self, refs: Sequence[TaskRef]) -> Mapping[TaskRef, Seen]:
        with self._state.lock:
            tasks = [self._state.tasks[ref] for ref in refs if ref in self._state.tasks]
            return {task.ref: Seen(task, self._is_cancelled(task)) for task in tasks}

    def claim(
        self,
        ref: TaskRef,
        *,
        owner: str,
        now_ms: int,
        lease_ms: int,
        limits: Sequence[str] = (),  # noqa: ARG002 - its item is at hand
    ) -> Claimed | ClaimRefused | None:
        with self._state.lock:
            task = self._state.tasks.get(ref)
            if task is None:
                return None
            limited = task if task.limits else None
            claim = transitions.claim(
                owner=owner, now_ms=now_ms, lease_ms=lease_ms, limited=limited
            )
            if claim.was_written_to(task):
                return Claimed(task, Lease(task, owner))
            places = places_taken(task, self._state.limits, now_ms=now_ms)
            if self._state.write_together((ref, claim), *places):
                claimed = self._state.tasks[ref]
                return Claimed(claimed, Lease(claimed, owner))
            return ClaimRefused(task, self._why_refused(task, now_ms))

    def _why_refused(
        self, task: Task, now_ms: int
    ) -> Busy | Done | NotYet | Exhausted | Flagged | LimitFull:
        decision = decide_claim(task, now_ms=now_ms)
        if not isinstance(decision, Claimable):
            return decision
        full = first_full(task, self._state.limits, now_ms=now_ms)
        if full is not None:
            return limit_full(full.name)
        raise Unavailable(f"{task.ref.request_id} was refused, though {decision.reason}")

    def renew(self, lease: Lease, *, lease_until_ms: int, signs: LifeSigns | None = None) -> Task:
        renewal = transitions.renew(lease, lease_until_ms=lease_until_ms, signs=signs)
        return self._write(lease, renewal)

    def settle(
        self,
        lease: Lease,
        outcome: Outcome,
        *,
        output: Json,
        now_ms: int,
        checked: CheckedCommitments | None = None,
    ) -> Task:
        with self._state.lock:
            before = self._state.tasks.get(lease.ref)
            task = self._end(
                lease, transitions.settle(lease, outcome, now_ms=now_ms, checked=checked)
            )
            if task is not before and outcome.state is TaskState.COMPLETED:
                self._state.store_output(task.ref, output)
            return task

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
        return self._end(lease, release)

    def give_up(self, task: Task, outcome: Outcome, *, now_ms: int) -> Task | None:
        giving_up = transitions.give_up(task, outcome, now_ms=now_ms)
        with self._state.lock:
            answer = self._state.write_task(task.ref, giving_up)
            if isinstance(answer, Task):
                self._give_places_back(task)
            return answer if isinstance(answer, Task) else None

    def _is_cancelled(self, task: Task) -> bool:
        job = self._state.jobs.get(task.ref.job)
        return job is not None and job.cancels(task)

    def _end(self, lease: Lease, transition: Transition) -> Task:
        with self._state.lock:
            task = self._write(lease, transition)
            self._give_places_back(lease.task)
            return task

    def _give_places_back(self, task: Task) -> None:
        self._state.write_together(*places_given_back(task))

    def _write(self, lease: Lease, transition: Transition) -> Task:
        answer = self._state.write_task(lease.ref, transition)
        if not isinstance(answer, Task):
            raise LeaseLost(f"{lease.ref.request_id} is no longer ours: {answer.reason}")
        return answer
