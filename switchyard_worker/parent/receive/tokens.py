"""Turns a wake-up into a claim: it is a token for one task, and names one that is only a hint.

The token is used up when the task that it names was run or needs nothing more. Until then that task
competes with whatever the ready index shows.
"""

from dataclasses import asdict, dataclass, field, replace
from typing import Final

from switchyard.contracts.messages import ForeignTask, TaskMessage
from switchyard.domain.errors import NewerVersion
from switchyard.domain.ids import TaskRef
from switchyard.domain.scheduling.choice import (
    LONGEST_PAUSE_SECONDS,
    MOST_REFUSALS,
    SHORTEST_PAUSE_SECONDS,
    Why,
)
from switchyard.domain.scheduling.pauses import paused_by
from switchyard.domain.scheduling.ready import (
    DEFAULT_QUEUE,
    NORMAL,
    Partition,
    ReadyTask,
    group_of,
    may_start_at_ms,
)
from switchyard.domain.tasks.claim_refusals import (
    Claimable,
    Done,
    LimitFull,
    decide_claim,
    why_needless,
)
from switchyard.domain.tasks.task import Task
from switchyard.observability import get_logger
from switchyard.ports import Claimed, ClaimRefused, ReadyIndex, TaskQueue
from switchyard.usecases.scheduling.marks import Marks, places_of
from switchyard_worker.parent.coroutines import Runtime, with_retries
from switchyard_worker.parent.receive.candidates import CandidateFinder, Found
from switchyard_worker.parent.receive.claims import Claims
from switchyard_worker.parent.receive.intake import ConsumptionPause
from switchyard_worker.parent.receive.refused_claims import RefusedClaims
from switchyard_worker.parent.receive.tenant_clocks import Charge, ClocksOfGroups

logger = get_logger("worker")

MOST_TRIES: Final = 50
"""How many tasks a worker looks at under one token, paused ones among them."""


@dataclass(slots=True)
class Token:
    """A wake-up that was received, and what is known of the task that it names."""

    message: TaskMessage | ForeignTask
    spent: bool = False
    """Whether the task that it names was run, or needs nothing more."""
    needless: bool = False
    """Whether that task had settled before: there may be more such wake-ups."""
    comes_again: bool = False
    """Whether the message must not be deleted, so that it is received again."""
    task: Task | None = None
    """The named task as it was read, if it could be claimed then."""
    tried: set[TaskRef] = field(default_factory=set)

    @property
    def ref(self) -> TaskRef:
        return self.message.ref


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A task that was claimed under a token."""

    claimed: Claimed
    charge: Charge
    taken_at: float
    """The monotonic time before the claim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    runtime: Runtime
    claims: Claims
    finder: CandidateFinder
    clocks: ClocksOfGroups
    refusals: RefusedClaims
    index: ReadyIndex
    marks: Marks
    queue: TaskQueue
    """The queue of this worker's pool: other pools have tokens of their own."""
    pauses: ConsumptionPause

    async def take(self, token: Token) -> Taken | None:
        """Claim the best task; `None` if there was none, or others were faster too often.

        Then the message is needed no more, unless it has to come again. Raise `UnknownTask` and
        `UnknownDefinition` if the task that it names is not there, and `Unavailable`.
        """
        token.tried.clear()
        refused = 0
        while refused < MOST_REFUSALS and len(token.tried) < MOST_TRIES:
            found = await self.finder.best(without=token.tried, named=self._named(token))
            if found is None:
                break
            if found.task.ref != token.ref and token.task is None and not token.spent:
                await self.look(token)
                continue
            if paused_by(found.task, self.pauses.parts):
                await self._hold(token, found.task)
                continue
            taken = await self._try(token, found)
            if taken is not None:
                return taken
            refused += 1
        return await self._try_last(token, refused)

    async def look(self, token: Token) -> bool:
        """Read the task that the token names, and do what it needs; return if it can be claimed."""
        token.task = None
        seen = await self.claims.look(token.message)
        now_ms = self.runtime.clock.now_ms()
        run = token.message.run if isinstance(token.message, TaskMessage) else seen.task.run
        if why_needless(seen.task, run=run, job_cancelled=seen.job_cancelled):
            token.spent = token.needless = True
            if seen.task.state.settled:
                await self.refusals.leave_index(seen.task)
            return False
        decision = decide_claim(seen.task, now_ms=now_ms)
        if isinstance(decision, Claimable):
            token.task = seen.task
            return True
        await self._judge(token, ClaimRefused(seen.task, decision))
        return False

    async def send_again(self, token: Token, *, delayed: bool) -> None:
        """Send a fresh token instead of one that is deleted: putting it back counts receives."""
        pause = self.runtime.randomness.between(SHORTEST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS)
        message = TaskMessage.to(token.ref, run=_run(token), group=_group(token))
        delay_seconds = round(pause) if delayed else 0
        await with_retries(self.runtime, self.queue.send, [message], delay_seconds=delay_seconds)

    def _named(self, token: Token) -> ReadyTask | TaskRef | None:
        if token.spent:
            return None
        if token.task is None:
            return token.ref
        return _as_ready(token.task, self.runtime.clock.now_ms())

    async def _try(self, token: Token, found: Found) -> Taken | None:
        token.tried.add(found.task.ref)
        self.finder.note_tried(found.task)
        taken_at = self.runtime.clock.monotonic()
        try:
            answer = await self.claims.claim(found.task.ref, limits=found.task.limits)
        except NewerVersion:
            if found.task.ref == token.ref:
                raise
            return None
        if isinstance(answer, Claimed):
            await self.finder.note_claimed(found)
            return await self._taken(token, answer, taken_at, found.why)
        if answer is not None:
            await self._judge(token, answer)
        return None

    async def _try_last(self, token: Token, refused: int) -> Taken | None:
        """Claim the task that the token names, whatever the clocks say; else give the token up."""
        if self.pauses.parts and not token.spent:
            await self._hold_named(token)
        if not token.spent and token.ref not in token.tried:
            taken_at = self.runtime.clock.monotonic()
            answer = await self.claims.claim_named(token.message)
            if isinstance(answer, Claimed):
                return await self._taken(token, answer, taken_at, None)
            await self._judge(token, answer)
        shown = refused and await self.finder.shows_any()
        if (shown or not token.spent) and not token.comes_again:
            logger.info("others were faster", extra={"refused": refused})
            await self.send_again(token, delayed=True)
        return None

    async def _hold_named(self, token: Token) -> None:
        """Move the named task to where paused ones wait, if it is one: it is not the last try."""
        if token.task is None and not await self.look(token):
            return
        named = self._named(token)
        if isinstance(named, ReadyTask) and paused_by(named, self.pauses.parts):
            await self._hold(token, named)

    async def _hold(self, token: Token, ready: ReadyTask) -> None:
        """Move a paused task to where it hides nobody; the sweep moves it back after the pause."""
        token.tried.add(ready.ref)
        self.finder.note_tried(ready)
        task = await self._read(ready.ref)
        if task is not None and task.ready_in is None:
            await self._enter_index(task)
            task = await self._read(ready.ref)
        moved = task is not None and await self.runtime.offload(
            self.index.move, task, Partition.HELD
        )
        if moved and ready.ref == token.ref:
            token.task, token.spent = None, True

    async def _read(self, ref: TaskRef) -> Task | None:
        seen = await self.runtime.offload(self.claims.leases.look_at, [ref])
        return seen[ref].task if ref in seen else None

    async def _taken(
        self, token: Token, claimed: Claimed, taken_at: float, why: Why | None
    ) -> Taken:
        task = claimed.task
        if task.ref == token.ref:
            token.spent = True
        elif token.task is not None and token.task.ready_in is None:
            await self._enter_index(token.task)
        charge = self.clocks.charge(group_of(task.queue), task)
        if why is not None:
            fields = {"request_id": task.ref.request_id, "tenant_id": task.ref.tenant}
            logger.info("task is taken", extra=fields | asdict(why))
        return Taken(claimed=replace(claimed, why=why), charge=charge, taken_at=taken_at)

    async def _judge(self, token: Token, refused: ClaimRefused) -> None:
        """Do what a task needs that cannot be claimed; remember if it is the named one."""
        named = refused.task.ref == token.ref
        done = await self.refusals.answer(refused, named=named)
        if not named:
            return
        token.task = None
        token.spent = done or not isinstance(refused.decision, LimitFull)
        token.comes_again = not done and token.spent
        token.needless = isinstance(refused.decision, Done)

    async def _enter_index(self, task: Task) -> None:
        """Write the key of a task that an older version made ready, before another is run."""

        def enter() -> bool:
            with self.marks.around(places_of([task])):
                return self.index.enter(task, now_ms=self.runtime.clock.now_ms())

        await with_retries(self.runtime, enter)


def _group(token: Token) -> str:
    if token.task is not None:
        return group_of(token.task.queue)
    return token.message.group if isinstance(token.message, TaskMessage) else DEFAULT_QUEUE


def _run(token: Token) -> int:
    return token.message.run if isinstance(token.message, TaskMessage) else 1


def _as_ready(task: Task, now_ms: int) -> ReadyTask:
    from_ms = may_start_at_ms(task, now_ms)
    return ReadyTask(
        ref=task.ref,
        queue=task.queue or DEFAULT_QUEUE,
        definition=task.definition,
        priority=task.priority or NORMAL,
        ready_from_ms=now_ms if from_ms is None else min(from_ms, now_ms),
        lease_ms=task.lease_ms,
        limits=task.limits,
    )
