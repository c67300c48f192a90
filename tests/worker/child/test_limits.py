"""What a child limits before anything else, and what it does where the platform refuses."""

import os
import sys
from unittest.mock import Mock

import pytest

from worker.child.limits import NICENESS, run_when_others_rest


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has the policy")
def test_a_platform_that_refuses_the_idle_policy_fails_no_task(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    refused = Mock(side_effect=PermissionError(1, "Operation not permitted"))
    monkeypatch.setattr(os, "sched_setscheduler", refused)

    run_when_others_rest()

    assert f"niceness {NICENESS} alone" in capsys.readouterr().err
