"""What is paid for keys, for counting their requests, for the brake and for definitions."""

from switchyard.domain.access.api_keys import Caller
from switchyard.domain.access.rates import Limits
from tests.builders import JOB, a_definition
from tests.contract.metered_yard import DEFINITION, NOW_MS, TENANT, MeteredYard

KEY_HASH = "f" * 64
CALLER = Caller(TENANT, KEY_HASH[:12])


def add_key(yard: MeteredYard) -> int:
    return yard.cost(lambda: _add_key(yard))


def note_use(yard: MeteredYard) -> int:
    _add_key(yard)
    return yard.cost(lambda: yard.keys.note_use(TENANT, KEY_HASH, day="2027-01-16"))


def revoke_key(yard: MeteredYard) -> int:
    _add_key(yard)
    return yard.cost(lambda: yard.keys.revoke(TENANT, KEY_HASH, now_ms=NOW_MS))


def count_request(yard: MeteredYard) -> int:
    _count(yard, at_ms=0)
    return yard.cost(lambda: _count(yard, at_ms=1_234))


def count_request_at_once(yard: MeteredYard) -> int:
    _count(yard, at_ms=0)
    return yard.cost(lambda: _count(yard, at_ms=0))


def set_tenant(yard: MeteredYard) -> int:
    return yard.cost(lambda: yard.tenants.change(TENANT, slack_channels=("#brand", "#ops")))


def hear_press(yard: MeteredYard) -> int:
    name = f"slack-{KEY_HASH}"
    return yard.cost(lambda: yard.once.first(name, now_ms=NOW_MS, keep_ms=900_000))


def pause(yard: MeteredYard) -> int:
    return yard.cost(lambda: _pause(yard))


def resume(yard: MeteredYard) -> int:
    _pause(yard)
    return yard.cost(yard.consumption.resume)


def put_definition(yard: MeteredYard) -> int:
    return yard.cost(lambda: _put_definition(yard))


def delete_definition(yard: MeteredYard) -> int:
    _put_definition(yard)
    return yard.cost(lambda: yard.definitions.delete(TENANT, DEFINITION, now_ms=NOW_MS))


def _add_key(yard: MeteredYard) -> None:
    yard.keys.add(TENANT, KEY_HASH, label="l" * 100, now_ms=NOW_MS)


def _count(yard: MeteredYard, *, at_ms: int) -> None:
    yard.rates.take(CALLER, limits=Limits(), now_ms=NOW_MS + at_ms)


def _pause(yard: MeteredYard) -> None:
    yard.consumption.pause(now_ms=NOW_MS, reason="r" * 200)


def _put_definition(yard: MeteredYard) -> None:
    yard.definitions.put(TENANT, DEFINITION, a_definition(description="d" * 1_200))


def count_job(yard: MeteredYard) -> int:
    return yard.cost(lambda: _count_job(yard))


def close_job(yard: MeteredYard) -> int:
    _count_job(yard)
    return yard.cost(lambda: yard.open_tasks.close(JOB, run=1))


def _count_job(yard: MeteredYard) -> None:
    yard.open_tasks.note(JOB, run=1, tasks=10_000, now_ms=NOW_MS)
