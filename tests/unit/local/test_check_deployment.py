"""What `make deploy` prints before it begins, and its exit code."""

import pytest

from switchyard.domain.health.diagnosis import Finding, Level
from switchyard_local.check_deployment import FAILED, report

MISSING = Finding("bootstrap", Level.FAIL, "no stack", "make bootstrap STAGE=dev")
DENIED = Finding("Claude", Level.WARN, "the secret could not be checked", "ask for read access")


def test_each_problem_is_a_sentence_with_its_fix(capsys: pytest.CaptureFixture[str]) -> None:
    assert report([MISSING, DENIED], stage="dev") == FAILED
    assert capsys.readouterr().err.splitlines() == [
        "No stack. To fix it: make bootstrap STAGE=dev",
        "The secret could not be checked. To fix it: ask for read access",
        "To deploy all the same: make deploy STAGE=dev SKIP_CHECKS=yes",
    ]


def test_a_warning_alone_does_not_stop_a_deployment(capsys: pytest.CaptureFixture[str]) -> None:
    assert report([DENIED], stage="dev") == 0
    assert "SKIP_CHECKS" not in capsys.readouterr().err


def test_of_what_is_well_nothing_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert report([Finding("Docker", Level.OK, "an engine answers")], stage="dev") == 0
    assert capsys.readouterr().err == ""
