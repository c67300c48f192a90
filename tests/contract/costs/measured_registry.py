"""Writes of keys, request counts, the pause switch and definitions, and what each costs."""

from switchyard.domain.access.api_keys import Caller
from switchyard.domain.access.limits import RequestLimits
from tests.builders import JOB, a_definition
from tests.contract.costs.metered_harness import DEFINITION, NOW_MS, TENANT, MeteredHarness

KEY_HASH = "f" * 64
CALLER = Caller(TENANT, KEY_HASH[:12])


def add_key(harness: MeteredHarness) -> int:
    return harness.cost(lambda: _add_key(harness))


def note_use(harness: MeteredHarness) -> int:
    _add_key(harness)
    return harness.cost(lambda: harness.keys.note_use(TENANT, KEY_HASH, day="2027-01-16"))


def revoke_key(harness: MeteredHarness) -> int:
    _add_key(harness)
    return harness.cost(lambda: harness.keys.revoke(TENANT, KEY_HASH, now_ms=NOW_MS))


def count_request(harness: MeteredHarness) -> int:
    _count(harness, at_ms=0)
    return harness.cost(lambda: _count(harness, at_ms=1_234))


def count_request_at_once(harness: MeteredHarness) -> int:
    _count(harness, at_ms=0)
    return harness.cost(lambda: _count(harness, at_ms=0))


def set_tenant(harness: MeteredHarness) -> int:
    return harness.cost(lambda: harness.tenants.change(TENANT, slack_channels=("#brand", "#ops")))


def hear_press(harness: MeteredHarness) -> int:
    name = f"slack-{KEY_HASH}"
    return harness.cost(lambda: harness.deduplication.first(name, now_ms=NOW_MS, keep_ms=900_000))


def change_subscription(harness: MeteredHarness) -> int:
    harness.pool_subscriptions.change("drones", "build", 3)
    return harness.cost(lambda: _change_subscription(harness))


def _change_subscription(harness: MeteredHarness) -> None:
    harness.pool_subscriptions.change("drones", "test", 1)


def pause(harness: MeteredHarness) -> int:
    return harness.cost(lambda: _pause(harness))


def resume(harness: MeteredHarness) -> int:
    _pause(harness)
    return harness.cost(harness.pause_switch.resume)


def pause_part(harness: MeteredHarness) -> int:
    return harness.cost(lambda: harness.pause_switch.pause_part("tenant:acme"))


def resume_part(harness: MeteredHarness) -> int:
    harness.pause_switch.pause_part("tenant:acme")
    return harness.cost(lambda: harness.pause_switch.resume_part("tenant:acme"))


def put_definition(harness: MeteredHarness) -> int:
    return harness.cost(lambda: _put_definition(harness))


def delete_definition(harness: MeteredHarness) -> int:
    _put_definition(harness)
    return harness.cost(lambda: harness.definitions.delete(TENANT, DEFINITION, now_ms=NOW_MS))


def _add_key(harness: MeteredHarness) -> None:
    harness.keys.add(TENANT, KEY_HASH, label="l" * 100, now_ms=NOW_MS)


def _count(harness: MeteredHarness, *, at_ms: int) -> None:
    harness.rates.take(CALLER, limits=RequestLimits(), now_ms=NOW_MS + at_ms)


def _pause(harness: MeteredHarness) -> None:
    harness.pause_switch.pause(now_ms=NOW_MS, reason="r" * 200)


def _put_definition(harness: MeteredHarness) -> None:
    harness.definitions.put(TENANT, DEFINITION, a_definition(description="d" * 1_200))


def count_job(harness: MeteredHarness) -> int:
    return harness.cost(lambda: _count_job(harness))


def close_job(harness: MeteredHarness) -> int:
    _count_job(harness)
    return harness.cost(lambda: harness.open_tasks.close(JOB, run=1))


def _count_job(harness: MeteredHarness) -> None:
    harness.open_tasks.note(JOB, run=1, tasks=10_000, now_ms=NOW_MS)
