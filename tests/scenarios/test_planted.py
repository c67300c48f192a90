"""Scenarios notice what they are there to notice; `make scenarios-planted` tries all of them."""

from pathlib import Path

import pytest

from switchyard_scenarios.harness.place import Place
from switchyard_scenarios.planted import PLANTED, Planted, reported, run_one
from switchyard_scenarios.reporting.evidence import Evidence
from switchyard_scenarios.reporting.results import Result
from switchyard_scenarios.scenario import NAMES

BY_DEFECT = {planted.defect: planted for planted in PLANTED}


def a_result(**held: bool) -> Result:
    evidence = Evidence()
    for sentence, so in held.items():
        evidence.check(sentence, so, shown="7")
    return Result(name="one", title="", demonstrates="", evidence=evidence, seconds=1.5)


def test_every_scenario_has_a_defect_of_its_own() -> None:
    assert tuple(planted.scenario for planted in PLANTED) == NAMES
    assert len(BY_DEFECT) == len(NAMES)


def test_a_defect_is_caught_when_all_the_checks_that_are_about_it_fail() -> None:
    planted = Planted("one", "no-lease", ("first", "second"))
    caught = a_result(first=False, second=False, third=True)
    assert planted.is_caught(caught)
    assert reported(planted, caught) == [
        "caught  no-lease             one                      1.5 s",
        "        not so: first (7)",
        "        not so: second (7)",
    ]


def test_to_fail_for_another_reason_is_not_to_notice() -> None:
    planted = Planted("one", "no-lease", ("first",))
    missed = a_result(first=True, third=False)
    assert not planted.is_caught(missed)
    assert reported(planted, missed)[1:] == ["        not so: third (7)"]
    nothing = reported(planted, a_result(first=True))
    assert nothing[0].startswith("MISSED")
    assert nothing[1:] == ["        everything was as it ought to be"]


@pytest.mark.long
@pytest.mark.parametrize("defect", ["no-extension", "delete-before-work"])
def test_a_planted_defect_is_caught(defect: str, place: Place, tmp_path: Path) -> None:
    planted = BY_DEFECT[defect]
    result = run_one(planted, place, tmp_path)
    assert planted.is_caught(result), result.reason
