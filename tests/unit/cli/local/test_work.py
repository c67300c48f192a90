"""`work --until-empty` runs a worker and says whether anything failed."""

import json

import pytest

from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.api import FakeCloud


def settled(task: str, state: str) -> str:
    return json.dumps({"message": "task is settled", "request_id": task, "state": state})


@pytest.mark.parametrize(
    ("states", "worker_code", "code"),
    [(("COMPLETED",), 0, 0), (("COMPLETED", "FAILED"), 0, 1), (("COMPLETED",), 1, 3), ((), 0, 0)],
)
def test_the_exit_code_says_whether_anything_failed(
    switchyard: Switchyard, cloud: FakeCloud, states: tuple[str, ...], worker_code: int, code: int
) -> None:
    cloud.worker_log = [settled(f"job__{number}", state) for number, state in enumerate(states)]
    cloud.worker_exit_code = worker_code
    ran = switchyard("work", "--pool", "drones", "--until-empty")
    assert ran.exit_code == code
    assert f"{len(states)} tasks settled" in ran.output
    assert cloud.calls[-1] == "work drones"


def test_lines_that_are_no_json_are_left_out(switchyard: Switchyard, cloud: FakeCloud) -> None:
    cloud.worker_log = ["a traceback", "[1]", settled("job__a", "TIMED_OUT")]
    ran = switchyard("work", "--until-empty")
    assert "job__a timed_out" in ran.output
    assert ran.exit_code == 1


def test_without_the_option_it_says_what_there_is_instead(switchyard: Switchyard) -> None:
    assert "switchyard supervise" in switchyard("work").output
