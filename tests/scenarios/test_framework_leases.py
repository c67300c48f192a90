"""The effect around a lease: begun with the claim, done before the task is settled."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from switchyard.domain.errors import LeaseLost
from switchyard.domain.ids import bare_task
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Lease, Outcome, Payload
from switchyard.ports import Claimed, ClaimRefused
from switchyard.testing.leases import MemoryTaskLeases
from switchyard.testing.state import MemoryState
from switchyard_scenarios.harness.harness import Harness
from switchyard_scenarios.harness.names import Names
from switchyard_scenarios.harness.place import Place
from switchyard_scenarios.switched.crashes import Crashes
from switchyard_scenarios.switched.effects import MessageEffects
from switchyard_scenarios.switched.leases import EffectiveLeases, Work
from switchyard_scenarios.switched.switches import CrashPoint
from tests.builders import a_task
from tests.scenarios.switched_worker import Bench
from tests.scenarios.test_framework_switches import Dice

REF = bare_task("acme", "m")
COMPLETED = Outcome(state=TaskState.COMPLETED)
LEASE_MS = 1_000


class Died(Exception):
    """Stands for the death of the process."""


def die() -> None:
    raise Died


@dataclass
class Handled:
    harness: Harness
    bench: Bench
    leases: EffectiveLeases

    def claim(self, owner: str) -> Lease:
        answer = self.try_to_claim(owner)
        assert isinstance(answer, Claimed)
        return answer.lease

    def try_to_claim(self, owner: str) -> Claimed | ClaimRefused | None:
        now_ms = self.bench.clock.now_ms()
        return self.leases.claim(REF, owner=owner, now_ms=now_ms, lease_ms=LEASE_MS)

    def settle(self, lease: Lease, outcome: Outcome = COMPLETED) -> None:
        self.leases.settle(lease, outcome, output={"ok": True}, now_ms=self.bench.clock.now_ms())

    @property
    def status(self) -> dict[str, Any]:
        return self.harness.statuses()["m"]

    def acts(self, act: str) -> int:
        return len(self.bench.written(act))


@pytest.fixture
def handled(moto_place: Place, tmp_path: Path) -> Callable[..., Handled]:
    def of(**switches: Any) -> Handled:
        harness = Harness(place=moto_place, names=Names.numbered(1))
        harness.build()
        bench = Bench(tmp_path, **switches)
        state = MemoryState()
        state.tasks[REF] = replace(a_task(), ref=REF)
        state.payloads[REF] = Payload()
        leases = EffectiveLeases(
            leases=MemoryTaskLeases(state),
            effects=MessageEffects(
                moto_place.client("dynamodb"),
                status_table=harness.names.message_status,
                completed_table=harness.names.message_completed,
                clock=bench.clock,
            ),
            bodies=bench.bodies,
            journal=bench.journal,
            crashes=Crashes(
                switches=bench.switches, journal=bench.journal, randomness=Dice(0), die=die
            ),
        )
        return Handled(harness, bench, leases)

    return of


def test_a_claim_begins_the_message_and_settling_completes_it(
    handled: Callable[..., Handled],
) -> None:
    one = handled()
    lease = one.claim("a")
    assert one.status["status"] == "STARTED"
    one.settle(lease)
    assert one.status["status"] == "COMPLETED"
    assert set(one.harness.completed()) == {"m"}
    assert (one.acts("claimed"), one.acts("effect"), one.acts("settled")) == (1, 1, 1)


def test_who_may_not_run_a_task_begins_nothing(handled: Callable[..., Handled]) -> None:
    one = handled()
    one.claim("a")
    assert isinstance(one.try_to_claim("b"), ClaimRefused)
    assert one.status["attempts"] == 1
    assert [entry.facts["reason"] for entry in one.bench.written("refused")] == ["busy"]


def test_after_a_crash_between_effect_and_settling_the_effect_is_not_repeated(
    handled: Callable[..., Handled],
) -> None:
    one = handled(crash_on_first=True, crash_at=CrashPoint.AFTER_EFFECT)
    first = one.claim("a")
    with pytest.raises(Died):
        one.settle(first)
    one.bench.clock.advance(2)
    one.settle(one.claim("b"))
    assert (one.acts("effect"), one.acts("effect skipped")) == (1, 1)
    assert (one.status["status"], one.status["attempts"]) == ("COMPLETED", 2)


def test_after_a_crash_before_the_effect_the_next_attempt_has_it(
    handled: Callable[..., Handled],
) -> None:
    one = handled(crash_on_first=True, crash_at=CrashPoint.BEFORE_EFFECT)
    with pytest.raises(Died):
        one.settle(one.claim("a"))
    assert one.harness.completed() == {}
    one.bench.clock.advance(2)
    one.settle(one.claim("b"))
    assert set(one.harness.completed()) == {"m"}


def test_who_lost_the_lease_has_no_effect(handled: Callable[..., Handled]) -> None:
    one = handled()
    late = one.claim("a")
    one.bench.clock.advance(2)
    one.claim("b")
    with pytest.raises(LeaseLost):
        one.settle(late)
    assert one.harness.completed() == {}


def test_a_failure_is_told_with_its_reason(handled: Callable[..., Handled]) -> None:
    one = handled()
    one.settle(one.claim("a"), Outcome(state=TaskState.FAILED, error="no such store"))
    assert (one.status["status"], one.status["error_reason"]) == ("FAILED", "no such store")
    assert one.harness.completed() == {}


def test_further_effects_are_told_what_the_message_said_and_what_came_of_it(
    handled: Callable[..., Handled],
) -> None:
    one = handled()
    one.bench.send("m")
    one.bench.receive()
    heard: list[Work] = []
    one.leases = replace(one.leases, others=(heard.append,))
    one.settle(one.claim("a"))
    assert heard == [Work("m", 1, "{}", {"ok": True})]
