"""The items of a stage's workers: their presence, their pause, and what their pools serve."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from switchyard.adapters.dynamodb.table import (
    WHATEVER_IS_THERE,
    DynamoDbTable,
    FailedCondition,
    Key,
    Update,
)
from switchyard.adapters.dynamodb.values import Item
from switchyard.contracts.tables import (
    CONSUMPTION_PARTITION,
    POOLS_PARTITION,
    TTL,
    WORKERS_PARTITION,
)
from switchyard.domain.errors import Rejected, Unavailable
from switchyard.domain.health.presence import Pause, PresentWorker
from switchyard.domain.scheduling.pauses import MAX_PAUSED_PARTS
from switchyard.domain.scheduling.pools import ChangedWeights

_KEPT_FOR_SECONDS: Final = 10 * 60
_SAID: Final = ("started_at_ms", "seen_at_ms", "slots", "busy", "version")
_LISTS: Final = ("functions", "subscriptions")
_ADDED: Final = (
    *("release", "draining", "busy_until_ms", "sick", "backend", "pool", "when_empty"),
    *_LISTS,
)
"""Attributes that older workers do not write and older readers ignore."""


class DynamoDbPresence:
    def __init__(self, table: DynamoDbTable) -> None:
        self._table = table

    def seen(self, worker: PresentWorker) -> None:
        known = asdict(worker)
        said = {name: known[name] for name in _SAID}
        added = {name: known[name] for name in _ADDED if known[name]}
        added |= {name: [*added[name]] for name in _LISTS if name in added}
        self._update(
            worker.worker_id,
            set=said | added | _until_forgotten(worker.seen_at_ms),
            remove=tuple(name for name in _ADDED if name not in added),
        )

    def left(self, worker_id: str, *, now_ms: int) -> None:
        self._update(worker_id, set=_until_forgotten(now_ms), remove=_SAID + _ADDED)

    def all(self) -> Sequence[PresentWorker]:
        found = self._table.query("#PK = :workers", {"workers": WORKERS_PARTITION})
        return [_worker(item) for item in found if "seen_at_ms" in item]

    def _update(self, worker_id: str, **changes: Any) -> None:
        key = (WORKERS_PARTITION, worker_id)
        self._table.update(key, Update(**changes, condition=WHATEVER_IS_THERE))


def _worker(item: Item) -> PresentWorker:
    said = {name: item[name] for name in _SAID}
    added = {name: item[name] for name in _ADDED if name in item}
    added |= {name: tuple(added[name]) for name in _LISTS if name in added}
    return PresentWorker(worker_id=item["SK"], **said, **added)


def _until_forgotten(now_ms: int) -> Item:
    return {TTL: now_ms // 1000 + _KEPT_FOR_SECONDS}


_KEY: Final[Key] = (CONSUMPTION_PARTITION, "CONSUMPTION")


class DynamoDbPauseSwitch:
    def __init__(self, table: DynamoDbTable) -> None:
        self._table = table

    def pause(self, *, now_ms: int, reason: str | None = None) -> Pause:
        emitted = {"reason": reason} if reason else {}
        answer = self._table.update(
            _KEY,
            Update(
                set={"paused_at_ms": now_ms, **emitted},
                condition="attribute_not_exists(#paused_at_ms)",
            ),
        )
        item = answer.item if isinstance(answer, FailedCondition) else answer
        return _pause(item) or Pause(since_ms=now_ms, reason=reason)

    def resume(self) -> None:
        self._table.update(
            _KEY,
            Update(remove=("paused_at_ms", "reason"), condition="attribute_exists(#paused_at_ms)"),
        )

    def paused(self) -> Pause | None:
        return _pause(self._table.get(_KEY))

    def pause_part(self, part: str) -> None:
        fits = "attribute_not_exists(#parts) OR contains(#parts, :part) OR size(#parts) < :most"
        answer = self._table.update(
            _KEY,
            Update(
                add={"parts": {part}},
                condition=fits,
                values={"part": part, "most": MAX_PAUSED_PARTS},
            ),
        )
        if isinstance(answer, FailedCondition):
            raise Rejected(f"at most {MAX_PAUSED_PARTS} parts of a stage can be paused")

    def resume_part(self, part: str) -> None:
        self._table.update(
            _KEY,
            Update(
                delete={"parts": {part}},
                condition="contains(#parts, :part)",
                values={"part": part},
            ),
        )

    def paused_parts(self) -> frozenset[str]:
        return frozenset((self._table.get(_KEY) or {}).get("parts", ()))


def _pause(item: Item | None) -> Pause | None:
    if item is None or "paused_at_ms" not in item:
        return None
    return Pause(since_ms=item["paused_at_ms"], reason=item.get("reason"))


_POOL_PREFIX: Final = "POOL#"
_TRIES: Final = 5


class DynamoDbSubscriptionStore:
    def __init__(self, table: DynamoDbTable) -> None:
        self._table = table

    def all(self) -> Mapping[str, ChangedWeights]:
        found = self._table.query("#PK = :pools", {"pools": POOLS_PARTITION})
        return {item["SK"].removeprefix(_POOL_PREFIX): _weights(item) for item in found}

    def change(self, pool: str, group: str, weight: int) -> ChangedWeights:
        key = (POOLS_PARTITION, f"{_POOL_PREFIX}{pool}")
        found = self._table.get(key)
        for _ in range(_TRIES):
            answer = self._write(key, found, dict(_weights(found)) | {group: weight})
            if not isinstance(answer, FailedCondition):
                return _weights(answer)
            found = answer.item
        raise Unavailable(f"the subscriptions of the pool {pool} are being changed by others")

    def _write(
        self, key: Key, found: Item | None, weights: ChangedWeights
    ) -> Item | FailedCondition:
        version: int = found["version"] if found else 0
        return self._table.update(
            key,
            Update(
                set={"weights": weights, "version": version + 1},
                condition="#version = :read" if found else "attribute_not_exists(#version)",
                values={"read": version} if found else {},
            ),
        )


def _weights(item: Item | None) -> ChangedWeights:
    return {} if item is None else {group: int(n) for group, n in item["weights"].items()}
