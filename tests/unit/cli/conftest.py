import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner, Result

from switchyard.domain.errors import Unavailable
from switchyard.testing import ManualClock
from switchyard_cli import interrupts
from switchyard_cli.app import app
from switchyard_cli.services import Services
from tests.unit.cli.fakes.api import (
    JOB_ID,
    NOW_MS,
    Answer,
    FakeApi,
    FakeCloud,
    a_task,
    a_task_view,
    answer,
)
from tests.unit.cli.fakes.event_log import FakeLog, an_event
from tests.unit.cli.fakes.events import DONE, JOB_ROUTE, created, ended, job_ended, pending
from tests.unit.cli.fakes.examiner import FakeExaminer
from tests.unit.cli.fakes.keys import FakeKeys
from tests.unit.cli.fakes.measurer import FakeMeasurer
from tests.unit.cli.fakes.parked_messages import FakeParkedMessages
from tests.unit.cli.fakes.pools import FakePools
from tests.unit.cli.fakes.rollout import FakeRollout
from tests.unit.cli.fakes.stage import FakePauseSwitch, FakeTaskOutput
from tests.unit.cli.fakes.task_checker import FakeTaskChecker
from tests.unit.cli.fakes.triggers import FakeTriggers

Switchyard = Callable[..., Result]


@pytest.fixture
def api() -> FakeApi:
    return FakeApi()


@pytest.fixture
def cloud() -> FakeCloud:
    return FakeCloud()


@pytest.fixture
def environment() -> dict[str, str]:
    return {}


@pytest.fixture
def keys() -> FakeKeys:
    return FakeKeys()


@pytest.fixture
def parked() -> FakeParkedMessages:
    return FakeParkedMessages()


@pytest.fixture
def pause_switch() -> FakePauseSwitch:
    return FakePauseSwitch()


@pytest.fixture
def triggers() -> FakeTriggers:
    return FakeTriggers()


@pytest.fixture
def task_output() -> FakeTaskOutput:
    return FakeTaskOutput()


@pytest.fixture
def examiner() -> FakeExaminer:
    return FakeExaminer()


@pytest.fixture
def task_checker() -> FakeTaskChecker:
    return FakeTaskChecker()


@pytest.fixture
def measurer() -> FakeMeasurer:
    return FakeMeasurer()


@pytest.fixture
def releases() -> FakeRollout:
    return FakeRollout()


@pytest.fixture
def pools() -> FakePools:
    return FakePools()


@dataclass(frozen=True)
class Stages:
    """What operators reach of them."""

    keys: FakeKeys
    parked: FakeParkedMessages
    pause_switch: FakePauseSwitch
    triggers: FakeTriggers
    task_output: FakeTaskOutput
    examiner: FakeExaminer
    task_checker: FakeTaskChecker
    measurer: FakeMeasurer


@pytest.fixture
def stages(
    keys: FakeKeys,
    parked: FakeParkedMessages,
    pause_switch: FakePauseSwitch,
    triggers: FakeTriggers,
    task_output: FakeTaskOutput,
    examiner: FakeExaminer,
    task_checker: FakeTaskChecker,
    measurer: FakeMeasurer,
) -> Stages:
    return Stages(
        keys, parked, pause_switch, triggers, task_output, examiner, task_checker, measurer
    )


@pytest.fixture
def switchyard(
    api: FakeApi,
    cloud: FakeCloud,
    environment: dict[str, str],
    stages: Stages,
    releases: FakeRollout,
    pools: FakePools,
    tmp_path: Path,
) -> Switchyard:
    """Runs the command as a user would, without a terminal."""

    def run(*arguments: str | Path) -> Result:
        services = Services(
            environment=environment,
            clock=ManualClock(NOW_MS),
            new_key=lambda: "a-new-key",
            cloud=cloud,
            worker_output=tmp_path,
            deployed_url=no_such_stack,
            api_keys=stages.keys,
            key_move=stages.keys.move,
            parked_messages=stages.parked,
            redrive_watch=stages.parked.watched,
            pause_switch=stages.pause_switch,
            pools=pools,
            triggers=stages.triggers,
            tenants=stages.triggers.tenants,
            eraser=stages.triggers.eraser,
            task_output=stages.task_output,
            checker=stages.task_checker,
            measurer=stages.measurer,
            rollout=releases,
            examiner=stages.examiner,
            transport=httpx.MockTransport(api),
        )
        return CliRunner().invoke(app, [str(argument) for argument in arguments], obj=services)

    return run


@pytest.fixture
def ctrl_c(monkeypatch: pytest.MonkeyPatch) -> Iterator[Answer]:
    """Press Ctrl-C instead of answering, with the handler that the real command has."""
    monkeypatch.setattr(interrupts, "_pressed", [])
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    before = signal.getsignal(signal.SIGINT)
    interrupts.raise_on_ctrl_c()

    def press(_request: httpx.Request) -> httpx.Response:
        signal.raise_signal(signal.SIGINT)
        raise AssertionError("the handler raises KeyboardInterrupt")

    yield press
    signal.signal(signal.SIGINT, before)


def no_such_stack(stage: str) -> str:
    raise Unavailable(f"Stack with id switchyard-{stage}-producer-api does not exist")


@pytest.fixture
def log(api: FakeApi) -> FakeLog:
    """Return the log of a job that has completed."""
    log = FakeLog(
        an_event(created(), 0),
        an_event(pending(), 5),
        an_event(ended(), 1_500),
        an_event(job_ended(), 1_600),
    )
    api.on(JOB_ROUTE, log)
    api.on("GET /events", log)
    api.on(f"GET /jobs/{JOB_ID}", answer(DONE))
    view = a_task_view(a_task("scrape", "completed"))
    api.on(f"GET /jobs/{JOB_ID}/tasks/scrape", answer(view))
    return log


@pytest.fixture
def in_a_known_zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Etc/GMT-1")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()
