"""Whatever wakes a watcher many times makes it look as often as there can be something new."""

from dataclasses import dataclass, field

import pytest

from switchyard.adapters.memory import ManualClock
from switchyard.domain.errors import Unavailable
from switchyard.usecases.alerts.lookout import CLOCKS_DIFFER_MS, MAX_REMEMBERED, Lookout
from switchyard.usecases.alerts.tell_alone import Telling, Told

LETTERS = "letters/quarantine"


@dataclass
class Looks:
    at: list[str] = field(default_factory=list)
    down: bool = False
    asked: int = 0
    """How often another comes meanwhile, who may know more."""

    def look_at(self, subject: str) -> Told:
        if self.down:
            raise Unavailable("no answer")
        self.at.append(subject)
        return Told(Telling.UPDATED, asked=len(self.at) <= self.asked)


class Yard:
    def __init__(self) -> None:
        self.clock, self.looks = ManualClock(), Looks()
        self.lookout = Lookout(watch=self.looks, clock=self.clock)

    def woken(self, subject: str = LETTERS, *, ago: float = 0, batch: str) -> bool:
        sent_at_ms = self.clock.now_ms() - int(ago * 1000)
        return self.lookout.woken(subject, sent_at_ms=sent_at_ms, batch=batch) is not None


@pytest.fixture
def yard() -> Yard:
    return Yard()


def test_a_hundred_thousand_letters_of_an_hour_ago_are_looked_at_once(yard: Yard) -> None:
    looked = [yard.woken(ago=3_600, batch=f"b{number}") for number in range(100)]
    assert looked.count(True) == 1


def test_what_was_sent_after_the_look_began_is_looked_at(yard: Yard) -> None:
    yard.woken(batch="b1")
    yard.clock.advance(1)
    assert yard.woken(batch="b2")


def test_clocks_that_differ_hide_nothing(yard: Yard) -> None:
    yard.woken(batch="b1")
    assert yard.woken(ago=CLOCKS_DIFFER_MS / 1000, batch="b2")
    assert not yard.woken(ago=CLOCKS_DIFFER_MS / 1000 + 0.001, batch="b3")


def test_of_one_batch_a_subject_is_looked_at_once_and_each_by_itself(yard: Yard) -> None:
    subjects = [LETTERS, "alarm/x", LETTERS, "alarm/x"]
    assert [yard.woken(s, batch="b1") for s in subjects] == [True, True, False, False]
    assert yard.looks.at == [LETTERS, "alarm/x"]


@pytest.mark.parametrize(("asked", "looks"), [(0, 1), (1, 2), (99, 3)])
def test_what_another_came_with_meanwhile_is_looked_at_now_and_not_only_by_the_sweeper(
    yard: Yard, asked: int, looks: int
) -> None:
    yard.looks.asked = asked
    yard.woken(batch="b1")
    assert len(yard.looks.at) == looks


def test_a_look_that_failed_is_no_look(yard: Yard) -> None:
    yard.looks.down = True
    with pytest.raises(Unavailable):
        yard.woken(ago=60, batch="b1")
    yard.looks.down = False
    assert yard.woken(ago=60, batch="b1")


def test_it_remembers_no_more_than_it_can_hold(yard: Yard) -> None:
    for number in range(2 * MAX_REMEMBERED):
        yard.woken(f"job/acme/{number}", batch="b1")
    assert len(yard.lookout._looked) <= MAX_REMEMBERED
