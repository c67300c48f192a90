"""A worker's leases, written down, with the downstream effect around them and places to die at."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from switchyard.domain.commitments.results import CheckedCommitments
from switchyard.domain.ids import TaskRef
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Json, Lease, LifeSigns, Outcome, Task
from switchyard.ports import Claimed, ClaimRefused, Seen, TaskLeases
from switchyard_scenarios.reporting.journal import Journal
from switchyard_scenarios.switched.crashes import Crashes
from switchyard_scenarios.switched.effects import MessageEffects
from switchyard_scenarios.switched.inbox import Bodies
from switchyard_scenarios.switched.switches import CrashPoint


@dataclass(frozen=True, slots=True)
class Work:
    """A message whose work is done, for the code that records its effect."""

    message_id: str
    fence: int
    body: str
    """The body as it was sent."""
    output: Json


Effect = Callable[[Work], None]
"""A further effect of a message. It may be asked for again, with the same fence or a higher one:
then it must not happen twice."""


@dataclass(frozen=True, kw_only=True)
class EffectiveLeases:
    leases: TaskLeases
    effects: MessageEffects
    bodies: Bodies
    journal: Journal
    crashes: Crashes
    others: Sequence[Effect] = ()

    def look_at(self, refs: Sequence[TaskRef]) -> Mapping[TaskRef, Seen]:
        return self.leases.look_at(refs)

    def claim(
        self,
        ref: TaskRef,
        *,
        owner: str,
        now_ms: int,
        lease_ms: int,
        limits: Sequence[str] = (),
    ) -> Claimed | ClaimRefused | None:
        answer = self.leases.claim(
            ref, owner=owner, now_ms=now_ms, lease_ms=lease_ms, limits=limits
        )
        message = ref.request_id
        match answer:
            case Claimed():
                fence = answer.lease.fence
                times = {"now_ms": now_ms, "lease_until_ms": now_ms + lease_ms}
                self.journal.note("claimed", message, fence=fence, **times)
                digest = self.bodies.digest_of(message)
                self.effects.begin(message, fence=fence, payload_digest=digest)
            case ClaimRefused():
                reason = type(answer.decision).__name__.lower()
                self.journal.note("refused", message, reason=reason)
        return answer

    def renew(self, lease: Lease, *, lease_until_ms: int, signs: LifeSigns | None = None) -> Task:
        self.crashes.reached(CrashPoint.WORKING, lease)
        task = self.leases.renew(lease, lease_until_ms=lease_until_ms, signs=signs)
        self._note("renewed", lease, lease_until_ms=lease_until_ms)
        return task

    def settle(
        self,
        lease: Lease,
        outcome: Outcome,
        *,
        output: Json,
        now_ms: int,
        checked: CheckedCommitments | None = None,
    ) -> Task:
        if outcome.state is TaskState.COMPLETED:
            self._complete(lease, output)
        else:
            self._fail(lease, outcome)
        settled = self.leases.settle(lease, outcome, output=output, now_ms=now_ms, checked=checked)
        self._note("settled", lease, state=outcome.state)
        self.crashes.reached(CrashPoint.AFTER_SETTLING, lease)
        return settled

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
        task = self.leases.release(
            lease,
            not_before_ms=not_before_ms,
            now_ms=now_ms,
            give_attempt_back=give_attempt_back,
            error=error,
            checked=checked,
            queue=queue,
        )
        self._note("released", lease)
        return task

    def give_up(self, task: Task, outcome: Outcome, *, now_ms: int) -> Task | None:
        return self.leases.give_up(task, outcome, now_ms=now_ms)

    def _complete(self, lease: Lease, output: Json) -> None:
        self.crashes.reached(CrashPoint.BEFORE_EFFECT, lease)
        message = lease.ref.request_id
        work = Work(message, lease.fence, self.bodies.of(message), output)
        for effect in self.others:
            effect(work)
        digest = self.bodies.digest_of(message)
        first = self.effects.complete(message, fence=lease.fence, payload_digest=digest)
        self._note("effect" if first else "effect skipped", lease)
        self.crashes.reached(CrashPoint.AFTER_EFFECT, lease)

    def _fail(self, lease: Lease, outcome: Outcome) -> None:
        reason = outcome.error or outcome.state
        self.effects.fail(lease.ref.request_id, fence=lease.fence, reason=reason)

    def _note(self, act: str, lease: Lease, **facts: str | int) -> None:
        self.journal.note(act, lease.ref.request_id, fence=lease.fence, **facts)
