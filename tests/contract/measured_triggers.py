"""What is paid for a trigger of 800 bytes, and for noting what it started."""

from switchyard.contracts.jobs import instant
from switchyard.contracts.triggers import TriggerRun
from tests.contract.metered_yard import JOB, NOW_MS, TENANT, MeteredYard
from tests.fakes.triggers import EVENT_ID, a_trigger

TRIGGER = a_trigger(description="d" * 500)
RUN = TriggerRun(at=instant(NOW_MS), event_id=EVENT_ID, job_id=JOB.job_id)


def put_trigger(yard: MeteredYard) -> int:
    """Refused as a change, then written as a new one."""
    return yard.cost(lambda: _put(yard))


def change_trigger(yard: MeteredYard) -> int:
    _put(yard)
    return yard.cost(lambda: _put(yard))


def switch_trigger(yard: MeteredYard) -> int:
    _put(yard)
    return yard.cost(lambda: yard.triggers.switch(TENANT, TRIGGER.name, on=False, now_ms=NOW_MS))


def note_run(yard: MeteredYard) -> int:
    _put(yard)
    return yard.cost(lambda: yard.triggers.note_run(TENANT, TRIGGER.name, RUN))


def remove_trigger(yard: MeteredYard) -> int:
    _put(yard)
    return yard.cost(lambda: yard.triggers.remove(TENANT, TRIGGER.name, now_ms=NOW_MS))


def _put(yard: MeteredYard) -> None:
    yard.triggers.put(TENANT, TRIGGER, now_ms=NOW_MS)
