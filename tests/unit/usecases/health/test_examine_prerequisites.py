"""The account before a deployment: refused looks are findings, never errors."""

from switchyard.domain.errors import Unavailable
from switchyard.domain.health.diagnosis import Level
from switchyard.usecases.health.examine_prerequisites import examine_prerequisites
from tests.unit.cli.fakes.examiner import FakeInspection


def levels(inspection: FakeInspection) -> dict[str, Level]:
    findings = examine_prerequisites(inspection, stage="dev", docker_answers=True)
    return {finding.subject: finding.level for finding in findings}


def test_an_account_that_is_ready() -> None:
    assert set(levels(FakeInspection()).values()) == {Level.OK}


def test_everything_that_is_missing_is_found() -> None:
    found = levels(FakeInspection(bootstrapped=None, secrets=set()))
    assert found == {
        "Docker": Level.OK,
        "credentials": Level.OK,
        "bootstrap": Level.FAIL,
        "Claude": Level.FAIL,
    }


def test_credentials_that_may_not_look_only_warn() -> None:
    found = levels(FakeInspection(blind=Unavailable("AccessDenied")))
    assert (found["bootstrap"], found["Claude"]) == (Level.WARN, Level.WARN)


def test_without_credentials_that_is_the_only_finding_about_the_account() -> None:
    found = levels(FakeInspection(nobody=Unavailable("Unable to locate credentials")))
    assert found == {"Docker": Level.OK, "credentials": Level.FAIL}
