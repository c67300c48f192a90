"""Counts the requests of each key, and the open tasks of each job, in items of their own.

A request needs no read before its conditional write. Mostly that is one: a key is idle when its
next request comes. A refused write brings back what is there, and the next one is chosen by that.
Its conditions say no more than the choice depends on, so those who ask at once only get into each
other's way at the limits.
"""

from collections.abc import Sequence
from typing import Final

from switchyard.adapters.dynamodb.table import DynamoDbTable, FailedCondition, Key, Update
from switchyard.adapters.dynamodb.values import Item
from switchyard.contracts.tables import TTL, open_jobs_partition
from switchyard.domain.access.api_keys import Caller
from switchyard.domain.access.limits import (
    Admission,
    Admitted,
    OpenJob,
    RequestLimits,
    TooFast,
    Use,
    judge,
)
from switchyard.domain.errors import Throttled
from switchyard.domain.ids import JobRef
from switchyard.domain.moments import day_of

ROUNDS: Final = 10  # a caller that loses as often lost to others with the same key
_SECOND_US: Final = 1_000_000
_LIFE_MS: Final = 2 * 24 * 3600 * 1000  # nothing of the day before yesterday matters
_WITHIN_THE_DAY: Final = "#day = :day AND #requests < :per_day"


class DynamoDbRequestRates:
    def __init__(self, table: DynamoDbTable) -> None:
        self._table = table

    def take(self, caller: Caller, *, limits: RequestLimits, now_ms: int) -> Admission:
        """An item that is throttled is one that is asked for too often, so its key is too fast."""
        try:
            return self._take(caller, limits, now_ms)
        except Throttled:
            return TooFast(_SECOND_US)

    def _take(self, caller: Caller, limits: RequestLimits, now_ms: int) -> Admission:
        idle = Use(free_at_us=now_ms * 1000, day=day_of(now_ms), requests=0)
        update = _one_more(idle, limits, now_ms)
        for _ in range(ROUNDS):
            answer = self._table.update(_key(caller), update)
            if not isinstance(answer, FailedCondition):
                return Admitted(_use(answer))
            seen = _use(answer.item) if answer.item else None
            verdict = judge(seen, now_ms=now_ms, limits=limits)
            if not isinstance(verdict, Admitted):
                return verdict
            update = _counted(seen, verdict.use, limits, now_ms)
        return TooFast(limits.step_us)


def _counted(seen: Use | None, use: Use, limits: RequestLimits, now_ms: int) -> Update:
    honest = seen is not None and limits.is_honest(seen.free_at_us, now_ms * 1000)
    if seen is not None and honest and seen.day == use.day:
        return _one_more(seen, limits, now_ms)
    facts = {"free_at_us": use.free_at_us, "day": use.day, "requests": use.requests}
    if seen is None:
        return Update(set=facts | _ttl(now_ms), condition="attribute_not_exists(#PK)")
    # Every admission moves `free_at_us`: if it is as seen, so is everything.
    return Update(
        set=facts | _ttl(now_ms),
        condition="#free_at_us = :seen",
        values={"seen": seen.free_at_us},
    )


def _one_more(seen: Use, limits: RequestLimits, now_ms: int) -> Update:
    now_us = now_ms * 1000
    within = {"day": seen.day, "per_day": limits.per_day, "now": now_us}
    if seen.free_at_us <= now_us:
        return Update(
            set={"free_at_us": now_us + limits.step_us} | _ttl(now_ms),
            add={"requests": 1},
            condition=f"{_WITHIN_THE_DAY} AND #free_at_us <= :now",
            values=within,
        )
    return Update(
        set=_ttl(now_ms),
        add={"free_at_us": limits.step_us, "requests": 1},
        condition=f"{_WITHIN_THE_DAY} AND #free_at_us > :now AND #free_at_us <= :latest",
        values=within | {"latest": limits.latest_us(now_us)},
    )


def _ttl(now_ms: int) -> Item:
    return {TTL: (now_ms + _LIFE_MS) // 1000}


def _use(item: Item) -> Use:
    return Use(free_at_us=item["free_at_us"], day=item["day"], requests=item["requests"])


def _key(caller: Caller) -> Key:
    return f"TENANT#{caller.tenant}#RATE#{caller.key_id}", "RATE"


class DynamoDbOpenTasks:
    def __init__(self, table: DynamoDbTable) -> None:
        self._table = table

    def of_tenant(self, tenant: str) -> Sequence[OpenJob]:
        found = self._table.query("#PK = :open", {"open": open_jobs_partition(tenant)})
        return [
            OpenJob(
                ref=JobRef(tenant, item["SK"]),
                run=item["run"],
                tasks=item["tasks"],
                since_ms=item["since_ms"],
            )
            for item in found
        ]

    def note(self, ref: JobRef, *, run: int, tasks: int, now_ms: int) -> None:
        self._table.update(
            _open_job_key(ref),
            Update(
                set={"run": run, "tasks": tasks, "since_ms": now_ms},
                condition="attribute_not_exists(#run) OR #run < :set_run"
                " OR (#run = :set_run AND #tasks <= :set_tasks)",
            ),
        )

    def close(self, ref: JobRef, *, run: int) -> None:
        self._table.delete(
            _open_job_key(ref),
            condition="attribute_not_exists(#run) OR #run <= :run",
            values={"run": run},
        )


def _open_job_key(ref: JobRef) -> Key:
    return open_jobs_partition(ref.tenant), ref.job_id
