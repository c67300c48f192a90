"""Leases on the control items: one conditional write per transition."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from switchyard.adapters.dynamodb.items import (
    data_key,
    due_attributes,
    job_from,
    job_key,
    json_text,
    outcome_attribute,
    signs_attribute,
    task_from,
    task_key,
)
from switchyard.adapters.dynamodb.payloads import fits_inline
from switchyard.adapters.dynamodb.read_back import NotDone, Proof, ReadBack, Shows
from switchyard.adapters.dynamodb.table import DynamoDbTable, Update
from switchyard.adapters.dynamodb.values import Item
from switchyard.domain.errors import LeaseLost, Unavailable
from switchyard.domain.ids import TaskRef
from switchyard.domain.prompts.artifacts import RESULT_FILE
from switchyard.domain.states import TaskState
from switchyard.domain.tasks import due, proofs
from switchyard.domain.tasks.claims import Claimable, decide_claim
from switchyard.domain.tasks.signs import Signs
from switchyard.domain.tasks.task import Json, Lease, Outcome, Task
from switchyard.ports import Claimed, Refused, Seen

_HELD: Final = "#state = :processing AND #fence = :fence AND #owner = :owner"
_CLAIMABLE: Final = (
    "((#state IN (:ready, :queued)"
    " AND (attribute_not_exists(#not_before_ms) OR #not_before_ms <= :now))"
    " OR (#state = :processing AND #lease_until_ms < :now))"
    " AND #attempt < #max_attempts AND attribute_not_exists(#cancel_requested)"
)
_AS_READ_AND_HELD_BY_NOBODY: Final = (
    "#fence = :fence AND #state = :read AND #attempt = :attempt"
    " AND (#state IN (:ready, :queued)"
    " OR (#state = :processing AND #lease_until_ms < :now))"
)


class DynamoDbTaskLeases:
    def __init__(self, table: DynamoDbTable) -> None:
        self._table = table
        self._writes = ReadBack(table)

    def look_at(self, refs: Sequence[TaskRef]) -> Mapping[TaskRef, Seen]:
        tasks = {task_key(ref): ref for ref in refs}
        jobs = {job_key(ref.job): ref.job for ref in refs}
        items = {(item["PK"], item["SK"]): item for item in self._table.get_many([*tasks, *jobs])}
        cancelled = {
            job
            for key, job in jobs.items()
            if key in items and job_from(items[key], job.tenant).being_cancelled
        }
        return {
            ref: Seen(task_from(items[key], ref.job), ref.job in cancelled)
            for key, ref in tasks.items()
            if key in items
        }

    def claim(
        self, ref: TaskRef, *, owner: str, now_ms: int, lease_ms: int
    ) -> Claimed | Refused | None:
        lease_until_ms = now_ms + lease_ms
        answer = self._writes.update(
            ref,
            Update(
                set={
                    "state": TaskState.PROCESSING,
                    "owner": owner,
                    "lease_until_ms": lease_until_ms,
                    "started_at_ms": now_ms,
                    **due_attributes(ref.request_id, lease_until_ms + due.AFTER_LEASE),
                },
                remove=("resends", "signs"),
                add={"fence": 1, "attempt": 1},
                condition=_CLAIMABLE,
                values=_OPEN_STATES | {"now": now_ms},
            ),
            Proof(
                done=lambda task: proofs.claimed(task, owner=owner, now_ms=now_ms),
                possible=lambda task: isinstance(decide_claim(task, now_ms=now_ms), Claimable),
            ),
        )
        if isinstance(answer, NotDone):
            return _refused(answer.found, now_ms)
        return Claimed(answer, Lease(answer, owner))

    def renew(self, lease: Lease, *, lease_until_ms: int, signs: Signs | None = None) -> Task:
        held = _held_by(lease)
        return self._held(
            lease,
            Update(
                set={"lease_until_ms": lease_until_ms, **signs_attribute(signs)},
                condition=f"{held['condition']} AND #lease_until_ms <= :set_lease_until_ms",
                values=held["values"],
            ),
            lambda task: proofs.renewed(task, lease, lease_until_ms=lease_until_ms),
        )

    def settle(self, lease: Lease, outcome: Outcome, *, output: Json, now_ms: int) -> Task:
        update = Update(
            set={
                "state": outcome.state,
                "settled_at_ms": now_ms,
                "outcome": outcome_attribute(outcome),
                **due_attributes(lease.ref.request_id, now_ms + due.AFTER_SETTLING),
            },
            **_held_by(lease),
        )
        if outcome.state is not TaskState.COMPLETED:
            return self._held(
                lease, update, lambda task: proofs.settled(task, lease, outcome.state)
            )
        completed = replace(lease.task, state=outcome.state, settled_at_ms=now_ms, outcome=outcome)
        return self._settle_with_output(lease, completed, update, _stored_output(outcome, output))

    def release(
        self,
        lease: Lease,
        *,
        not_before_ms: int,
        now_ms: int,
        give_attempt_back: bool,
        error: str | None = None,
    ) -> Task:
        wait_until = max(now_ms, not_before_ms)
        update = Update(
            set={
                "state": TaskState.QUEUED,
                "not_before_ms": not_before_ms,
                **({"last_error": error} if error else {}),
                **due_attributes(lease.ref.request_id, wait_until + due.AFTER_QUEUED),
            },
            remove=("owner", "lease_until_ms", "resends"),
            add={"attempt": -1} if give_attempt_back else {},
            **_held_by(lease),
        )
        return self._held(lease, update, lambda task: proofs.released(task, lease))

    def give_up(self, task: Task, outcome: Outcome, *, now_ms: int) -> Task | None:
        answer = self._writes.update(
            task.ref,
            given_up(task, outcome, now_ms=now_ms),
            Proof(
                done=lambda found: proofs.given_up(found, task, outcome.state),
                possible=lambda found: proofs.may_be_given_up(found, task, now_ms=now_ms),
            ),
        )
        return None if isinstance(answer, NotDone) else answer

    def _held(self, lease: Lease, update: Update, done: Shows) -> Task:
        return _still_ours(lease, self._writes.update(lease.ref, update, _proof(lease, done)))

    def _settle_with_output(
        self, lease: Lease, completed: Task, update: Update, output: Item
    ) -> Task:
        stored = Update(
            set=output,
            remove=sorted({"output", "output_key"} - output.keys()),
            condition="attribute_exists(#PK)",
        )
        answer = self._writes.transact(
            completed,
            (task_key(lease.ref), update),
            (data_key(lease.ref), stored),
            proof=_proof(lease, lambda task: proofs.settled(task, lease, completed.state)),
        )
        return _still_ours(lease, answer)


def given_up(task: Task, outcome: Outcome, *, now_ms: int) -> Update:
    """The write that settles a task which nobody holds."""
    return Update(
        set={
            "state": outcome.state,
            "settled_at_ms": now_ms,
            "outcome": outcome_attribute(outcome),
            **due_attributes(task.ref.request_id, now_ms + due.AFTER_SETTLING),
        },
        remove=("resends",),
        add={"fence": 1},
        condition=_AS_READ_AND_HELD_BY_NOBODY,
        values=_OPEN_STATES
        | {
            "fence": task.fence,
            "read": task.state,
            "attempt": task.attempt,
            "now": now_ms,
        },
    )


_OPEN_STATES: Final = {
    "ready": TaskState.READY,
    "queued": TaskState.QUEUED,
    "processing": TaskState.PROCESSING,
}


def _proof(lease: Lease, done: Shows) -> Proof:
    return Proof(done=done, possible=lambda task: proofs.holds(lease, task))


def _held_by(lease: Lease) -> Item:
    return {
        "condition": _HELD,
        "values": {
            "processing": TaskState.PROCESSING,
            "fence": lease.fence,
            "owner": lease.owner,
        },
    }


def _stored_output(outcome: Outcome, output: Json) -> Item:
    """Small outputs are kept in the item; larger ones stay in the bucket, where they are."""
    text = json_text(output)
    if fits_inline(text) or outcome.artifacts is None:
        return {"output": text}
    return {"output_key": f"{outcome.artifacts}{RESULT_FILE}"}


def _refused(task: Task | None, now_ms: int) -> Refused | None:
    if task is None:
        return None
    decision = decide_claim(task, now_ms=now_ms)
    if isinstance(decision, Claimable):
        raise Unavailable(f"{task.ref.request_id} was refused, though {decision.reason}")
    return Refused(task, decision)


def _still_ours(lease: Lease, answer: Task | NotDone) -> Task:
    if isinstance(answer, Task):
        return answer
    found = answer.found
    is_now = f"{found.state} at fence {found.fence}" if found else "gone"
    raise LeaseLost(f"{lease.ref.request_id} is {is_now}, ours was {lease.fence}")
