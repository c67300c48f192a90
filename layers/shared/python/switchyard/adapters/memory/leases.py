"""Leases, in memory."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from switchyard.adapters.memory.settling import settled
from switchyard.adapters.memory.state import MemoryState
from switchyard.domain.errors import LeaseLost
from switchyard.domain.ids import JobRef, TaskRef
from switchyard.domain.states import TaskState
from switchyard.domain.tasks import due, proofs
from switchyard.domain.tasks.claims import Claimable, decide_claim
from switchyard.domain.tasks.signs import Signs
from switchyard.domain.tasks.task import Json, Lease, Outcome, Task
from switchyard.ports import Claimed, Refused, Seen


class MemoryTaskLeases:
    def __init__(self, state: MemoryState) -> None:
        self._state = state

    def look_at(self, refs: Sequence[TaskRef]) -> Mapping[TaskRef, Seen]:
        with self._state.lock:
            tasks = [self._state.tasks[ref] for ref in refs if ref in self._state.tasks]
            return {task.ref: Seen(task, self._is_cancelled(task.ref.job)) for task in tasks}

    def claim(
        self, ref: TaskRef, *, owner: str, now_ms: int, lease_ms: int
    ) -> Claimed | Refused | None:
        with self._state.lock:
            task = self._state.tasks.get(ref)
            if task is None:
                return None
            if proofs.claimed(task, owner=owner, now_ms=now_ms):
                return Claimed(task, Lease(task, owner))
            decision = decide_claim(task, now_ms=now_ms)
            if not isinstance(decision, Claimable):
                return Refused(task, decision)
            claimed = replace(
                task,
                state=TaskState.PROCESSING,
                owner=owner,
                fence=task.fence + 1,
                attempt=task.attempt + 1,
                lease_until_ms=now_ms + lease_ms,
                started_at_ms=now_ms,
                due_at_ms=now_ms + lease_ms + due.AFTER_LEASE,
                resends=0,
                signs=None,
            )
            self._state.tasks[ref] = claimed
            return Claimed(claimed, Lease(claimed, owner))

    def renew(self, lease: Lease, *, lease_until_ms: int, signs: Signs | None = None) -> Task:
        with self._state.lock:
            task = self._held(lease)
            if lease_until_ms < task.lease_until_ms:
                return task
            seen = signs or task.signs
            return self._store(replace(task, lease_until_ms=lease_until_ms, signs=seen))

    def settle(self, lease: Lease, outcome: Outcome, *, output: Json, now_ms: int) -> Task:
        with self._state.lock:
            stored = self._state.tasks.get(lease.ref)
            if stored and proofs.settled(stored, lease, outcome.state):
                return stored
            task = self._held(lease)
            if outcome.state is TaskState.COMPLETED:
                payload = self._state.payloads[task.ref]
                self._state.payloads[task.ref] = replace(payload, output=output)
            return self._store(settled(task, outcome, now_ms))

    def release(
        self,
        lease: Lease,
        *,
        not_before_ms: int,
        now_ms: int,
        give_attempt_back: bool,
        error: str | None = None,
    ) -> Task:
        with self._state.lock:
            stored = self._state.tasks.get(lease.ref)
            if stored and proofs.released(stored, lease):
                return stored
            task = self._held(lease)
            return self._store(
                replace(
                    task,
                    state=TaskState.QUEUED,
                    not_before_ms=not_before_ms,
                    attempt=task.attempt - 1 if give_attempt_back else task.attempt,
                    owner=None,
                    lease_until_ms=0,
                    last_error=error or task.last_error,
                    due_at_ms=max(now_ms, not_before_ms) + due.AFTER_QUEUED,
                    resends=0,
                )
            )

    def give_up(self, task: Task, outcome: Outcome, *, now_ms: int) -> Task | None:
        with self._state.lock:
            stored = self._state.tasks[task.ref]
            if proofs.given_up(stored, task, outcome.state):
                return stored
            if not proofs.may_be_given_up(stored, task, now_ms=now_ms):
                return None
            fenced = replace(stored, fence=stored.fence + 1, resends=0)
            return self._store(settled(fenced, outcome, now_ms))

    def _is_cancelled(self, ref: JobRef) -> bool:
        job = self._state.jobs.get(ref)
        return job is not None and job.being_cancelled

    def _held(self, lease: Lease) -> Task:
        task = self._state.tasks.get(lease.ref)
        if task is None or not proofs.holds(lease, task):
            raise LeaseLost(f"{lease.ref.request_id} is no longer ours")
        return task

    def _store(self, task: Task) -> Task:
        self._state.tasks[task.ref] = task
        return task
