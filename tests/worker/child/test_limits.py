"""What a child limits before anything else, and what it does where the platform refuses."""

import os
import subprocess
import sys
from unittest.mock import Mock

import pytest

from switchyard_worker.child.limits import NICENESS, run_when_others_rest


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has the policy")
def test_a_platform_that_refuses_the_idle_policy_fails_no_task(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    refused = Mock(side_effect=PermissionError(1, "Operation not permitted"))
    monkeypatch.setattr(os, "sched_setscheduler", refused)

    run_when_others_rest()

    assert f"niceness {NICENESS} alone" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a process say so")
def test_what_a_task_starts_is_ended_before_the_worker_when_memory_is_short() -> None:
    program = (
        "import subprocess; from switchyard_worker.child.limits import limit_resources\n"
        "limit_resources(memory_mb=None, file_mb=100)\n"
        "subprocess.run(['cat', '/proc/self/oom_score_adj'])"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert int(ended.stdout) == 1000
