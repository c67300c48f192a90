"""Leases on the control items: one conditional write per transition."""

from dataclasses import replace
from typing import Final

from switchyard.adapters.dynamodb.items import (
    data_key,
    due_attributes,
    json_text,
    outcome_attribute,
    task_from,
    task_key,
)
from switchyard.adapters.dynamodb.payloads import fits_inline
from switchyard.adapters.dynamodb.table import DynamoDbTable, Item, Refusal, Update
from switchyard.domain import due
from switchyard.domain.artifacts import RESULT_FILE
from switchyard.domain.claims import Claimable, decide_claim
from switchyard.domain.errors import LeaseLost, Unavailable
from switchyard.domain.ids import TaskRef
from switchyard.domain.states import TaskState
from switchyard.domain.task import Json, Lease, Outcome, Task
from switchyard.ports import Claimed, Refused

_HELD: Final = "#state = :processing AND #fence = :fence AND #owner = :owner"
_CLAIMABLE: Final = (
    "((#state IN (:ready, :queued)"
    " AND (attribute_not_exists(#not_before_ms) OR #not_before_ms <= :now))"
    " OR (#state = :processing AND #lease_until_ms < :now))"
    " AND #attempt < #max_attempts AND attribute_not_exists(#cancel_requested)"
)
_NOBODY_HOLDS_IT: Final = (
    "#fence = :fence AND (#state IN (:ready, :queued)"
    " OR (#state = :processing AND #lease_until_ms < :now))"
)


class DynamoDbTaskLeases:
    def __init__(self, table: DynamoDbTable) -> None:
        self._table = table

    def claim(
        self, ref: TaskRef, *, owner: str, now_ms: int, lease_ms: int
    ) -> Claimed | Refused | None:
        lease_until_ms = now_ms + lease_ms
        answer = self._table.update(
            task_key(ref),
            Update(
                set={
                    "state": TaskState.PROCESSING,
                    "owner": owner,
                    "lease_until_ms": lease_until_ms,
                    "started_at_ms": now_ms,
                    **due_attributes(ref.request_id, lease_until_ms + due.AFTER_LEASE),
                },
                remove=("resends",),
                add={"fence": 1, "attempt": 1},
                condition=_CLAIMABLE,
                values=_OPEN_STATES | {"now": now_ms},
            ),
        )
        if isinstance(answer, Refusal):
            return _refused(answer, ref, now_ms)
        task = task_from(answer, ref.job)
        return Claimed(task, Lease(task, owner))

    def renew(self, lease: Lease, *, lease_until_ms: int) -> Task:
        return self._held(lease, Update(set={"lease_until_ms": lease_until_ms}, **_held_by(lease)))

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
            return self._held(lease, update)
        self._settle_with_output(lease, update, _stored_output(outcome, output))
        return replace(lease.task, state=outcome.state, settled_at_ms=now_ms, outcome=outcome)

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
        return self._held(lease, update)

    def give_up(self, task: Task, outcome: Outcome, *, now_ms: int) -> Task | None:
        answer = self._table.update(
            task_key(task.ref),
            Update(
                set={
                    "state": outcome.state,
                    "settled_at_ms": now_ms,
                    "outcome": outcome_attribute(outcome),
                    **due_attributes(task.ref.request_id, now_ms + due.AFTER_SETTLING),
                },
                remove=("resends",),
                add={"fence": 1},
                condition=_NOBODY_HOLDS_IT,
                values=_OPEN_STATES | {"fence": task.fence, "now": now_ms},
            ),
        )
        return None if isinstance(answer, Refusal) else task_from(answer, task.ref.job)

    def _held(self, lease: Lease, update: Update) -> Task:
        answer = self._table.update(task_key(lease.ref), update)
        if isinstance(answer, Refusal):
            raise LeaseLost(_whose(answer, lease))
        return task_from(answer, lease.ref.job)

    def _settle_with_output(self, lease: Lease, update: Update, output: Item) -> None:
        stored = Update(
            set=output,
            remove=sorted({"output", "output_key"} - output.keys()),
            condition="attribute_exists(#PK)",
        )
        if not self._table.transact((task_key(lease.ref), update), (data_key(lease.ref), stored)):
            raise LeaseLost(f"{lease.ref.request_id} is no longer ours to settle")


_OPEN_STATES: Final = {
    "ready": TaskState.READY,
    "queued": TaskState.QUEUED,
    "processing": TaskState.PROCESSING,
}


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


def _refused(refusal: Refusal, ref: TaskRef, now_ms: int) -> Refused | None:
    if refusal.item is None:
        return None
    task = task_from(refusal.item, ref.job)
    decision = decide_claim(task, now_ms=now_ms)
    if isinstance(decision, Claimable):
        raise Unavailable(f"{ref.request_id} was refused, though {decision.reason}")
    return Refused(task, decision)


def _whose(refusal: Refusal, lease: Lease) -> str:
    item = refusal.item or {}
    return (
        f"{lease.ref.request_id} is {item.get('state', 'gone')} at fence {item.get('fence')},"
        f" ours was {lease.fence}"
    )
