"""Defects on purpose: each takes away what one scenario is there to show.

A worker has the one that its variable `PLANTED` names, which only `switchyard_scenarios/planted.py`
sets. Some are not a worker's: `no-redrive` is the harness's, `no-scaling` the supervisor's.
"""

import asyncio
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from switchyard.adapters import aws
from switchyard.adapters.dynamodb.values import serialized
from switchyard.bootstrap import WorkerPorts
from switchyard.contracts.messages import TaskMessage
from switchyard.domain.commitments.results import CheckedCommitments
from switchyard.domain.errors import LeaseLost
from switchyard.domain.ids import TaskRef
from switchyard.domain.tasks import transitions
from switchyard.domain.tasks.claim_refusals import Busy, Done
from switchyard.domain.tasks.task import Json, Lease, LifeSigns, Outcome, Task
from switchyard.domain.transition import applied
from switchyard.ports import Claimed, ClaimRefused, Received, TaskInbox, TaskLeases
from switchyard_scenarios.switched.leases import EffectiveLeases, Work
from switchyard_scenarios.switched.reconciliation import Change
from switchyard_scenarios.switched.switches import WorkerSwitches

Switched = Callable[[WorkerPorts, WorkerSwitches], WorkerPorts]


def with_defect(ports: WorkerPorts, switches: WorkerSwitches, switched: Switched) -> WorkerPorts:
    """Plant the defect in the ports, inside or around those that `switched` returns."""
    if switches.planted in _INSIDE:
        ports = _INSIDE[switches.planted](ports)
    whole = switched(ports, switches)
    if switches.planted not in _AROUND or not isinstance(whole.leases, EffectiveLeases):
        return whole
    return replace(whole, leases=_AROUND[switches.planted](whole.leases, switches))


class DeletesBeforeWork:
    def __init__(self, inbox: TaskInbox) -> None:
        self._inbox = inbox

    def receive(self, **asked: int) -> Sequence[Received]:
        messages = self._inbox.receive(**asked)
        if messages:
            self._inbox.delete(*messages)
        return messages

    def extend(self, message: Received, *, seconds: int) -> None:
        """Do nothing: the message is deleted already."""

    def delete(self, *messages: Received) -> None:
        """Do nothing: the message was deleted when it was received."""


class NeverExtends:
    def __init__(self, inbox: TaskInbox) -> None:
        self.receive = inbox.receive
        self.delete = inbox.delete

    def extend(self, message: Received, *, seconds: int) -> None:
        """Do nothing: the defect is that the extension was forgotten."""


@dataclass
class TakenTogether:
    size: int
    failed: bool = False
    done: list[Received] = field(default_factory=list)


class AllOrNothing:
    """Both ends of the queue: a batch is deleted if none of it fails, and all of it comes again
    if one does."""

    def __init__(self, inbox: TaskInbox) -> None:
        self._inbox = inbox
        self._batches: dict[str, TakenTogether] = {}
        self.extend = inbox.extend

    def receive(self, **asked: int) -> Sequence[Received]:
        messages = self._inbox.receive(**asked)
        batch = TakenTogether(len(messages))
        self._batches.update({message.receipt: batch for message in messages})
        return messages

    def send(
        self,
        messages: Sequence[TaskMessage],  # noqa: ARG002 - as the port has it
        *,
        delay_seconds: int = 0,  # noqa: ARG002
    ) -> None:
        """Fail the whole batch: a worker sends a message when a task has to come again."""
        for batch in self._batches.values():
            batch.failed = True

    def delete(self, *messages: Received) -> None:
        for message in messages:
            batch = self._batches.pop(message.receipt)
            batch.done.append(message)
            if len(batch.done) == batch.size and not batch.failed:
                self._inbox.delete(*batch.done)


class GrantsInSpite:
    """A claim that was refused for one of these reasons is granted, and nothing enforced."""

    def __init__(self, leases: TaskLeases, *reasons: type) -> None:
        self._leases = leases
        self._reasons = reasons
        self.release = leases.release
        self.give_up = leases.give_up
        self.look_at = leases.look_at

    def claim(
        self,
        ref: TaskRef,
        *,
        owner: str,
        now_ms: int,
        lease_ms: int,
        limits: Sequence[str] = (),
    ) -> Claimed | ClaimRefused | None:
        answer = self._leases.claim(
            ref, owner=owner, now_ms=now_ms, lease_ms=lease_ms, limits=limits
        )
        if isinstance(answer, ClaimRefused) and isinstance(answer.decision, self._reasons):
            return Claimed(answer.task, Lease(answer.task, owner))
        return answer

    def renew(self, lease: Lease, *, lease_until_ms: int, signs: LifeSigns | None = None) -> Task:
        try:
            return self._leases.renew(lease, lease_until_ms=lease_until_ms, signs=signs)
        except LeaseLost:
            return lease.task

    def settle(
        self,
        lease: Lease,
        outcome: Outcome,
        *,
        output: Json,
        now_ms: int,
        checked: CheckedCommitments | None = None,
    ) -> Task:
        try:
            return self._leases.settle(
                lease, outcome, output=output, now_ms=now_ms, checked=checked
            )
        except LeaseLost:
            return applied(lease.task, transitions.settle(lease, outcome, now_ms=now_ms))


class ForgetsAnEffect(EffectiveLeases):
    def settle(
        self,
        lease: Lease,
        outcome: Outcome,
        *,
        output: Json,
        now_ms: int,
        checked: CheckedCommitments | None = None,
    ) -> Task:
        settle = self.leases.settle if lease.ref.request_id.endswith("-0") else super().settle
        return settle(lease, outcome, output=output, now_ms=now_ms, checked=checked)


@dataclass(frozen=True, kw_only=True)
class ActsUnclaimed(EffectiveLeases):
    """The effect does not wait for a claim, nor does it ask whether it took place."""

    completed_table: str

    def claim(
        self,
        ref: TaskRef,
        *,
        owner: str,
        now_ms: int,
        lease_ms: int,
        limits: Sequence[str] = (),
    ) -> Claimed | ClaimRefused | None:
        answer = super().claim(ref, owner=owner, now_ms=now_ms, lease_ms=lease_ms, limits=limits)
        if answer is not None:  # of a new task it is asked twice
            row = {
                "message_id": ref.request_id,
                "payload_digest": self.bodies.digest_of(ref.request_id),
            }
            _put(self.completed_table, row)
            self.journal.note("effect", ref.request_id)
        return answer


def _without_handler(ports: WorkerPorts) -> WorkerPorts:
    """Remove the signal's handler, so that the signal ends the process."""

    async def sleep(seconds: float) -> None:
        asyncio.get_running_loop().remove_signal_handler(signal.SIGTERM)
        await ports.sleep(seconds)

    return replace(ports, sleep=sleep)


def _all_or_nothing(ports: WorkerPorts) -> WorkerPorts:
    both = AllOrNothing(ports.inbox)
    return replace(ports, inbox=both, queue=both)


def _acting_unclaimed(leases: EffectiveLeases, switches: WorkerSwitches) -> TaskLeases:
    return ActsUnclaimed(**vars(leases), completed_table=switches.message_completed_table)


def _last_arrival_wins(leases: EffectiveLeases, switches: WorkerSwitches) -> TaskLeases:
    def overwrite(work: Work) -> None:
        _put(switches.entities_table, Change.reported_by(work).row)

    return replace(leases, others=(overwrite,))


def _put(table: str, row: Mapping[str, Any]) -> None:
    aws.client("dynamodb").put_item(TableName=table, Item=serialized(row))


_INSIDE: Final[Mapping[str, Callable[[WorkerPorts], WorkerPorts]]] = {
    "delete-before-work": lambda ports: replace(ports, inbox=DeletesBeforeWork(ports.inbox)),
    "no-lease": lambda ports: replace(ports, leases=GrantsInSpite(ports.leases, Busy, Done)),
    "no-idempotency": lambda ports: replace(ports, leases=GrantsInSpite(ports.leases, Done)),
    "all-or-nothing": _all_or_nothing,
    "no-extension": lambda ports: replace(ports, inbox=NeverExtends(ports.inbox)),
    "exit-on-sigterm": _without_handler,
}
_AROUND: Final[Mapping[str, Callable[[EffectiveLeases, WorkerSwitches], TaskLeases]]] = {
    "lost-completion": lambda leases, _: ForgetsAnEffect(**vars(leases)),
    "effect-before-claim": _acting_unclaimed,
    "last-arrival-wins": _last_arrival_wins,
}
