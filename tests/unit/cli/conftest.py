import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner, Result

from cli.main import app
from cli.outside import Outside
from switchyard.adapters.memory import ManualClock
from switchyard.domain.errors import Unavailable
from tests.unit.cli.fake_desk import FakeDesk
from tests.unit.cli.fake_hospital import FakeHospital
from tests.unit.cli.fake_keys import FakeKeys
from tests.unit.cli.fake_log import FakeLog, an_event
from tests.unit.cli.fake_office import FakeOffice
from tests.unit.cli.fake_rollout import FakeRollout
from tests.unit.cli.fake_scales import FakeScales
from tests.unit.cli.fake_stage import FakeBrake, FakePrinting
from tests.unit.cli.fake_ward import FakeWard
from tests.unit.cli.fakes import (
    JOB_ID,
    NOW_MS,
    FakeApi,
    FakeCloud,
    a_task,
    a_task_view,
    answer,
)
from tests.unit.cli.told import DONE, JOB_ROUTE, created, ended, job_ended, pending

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
def office() -> FakeOffice:
    return FakeOffice()


@pytest.fixture
def brake() -> FakeBrake:
    return FakeBrake()


@pytest.fixture
def desk() -> FakeDesk:
    return FakeDesk()


@pytest.fixture
def printing() -> FakePrinting:
    return FakePrinting()


@pytest.fixture
def hospital() -> FakeHospital:
    return FakeHospital()


@pytest.fixture
def ward() -> FakeWard:
    return FakeWard()


@pytest.fixture
def scales() -> FakeScales:
    return FakeScales()


@pytest.fixture
def releases() -> FakeRollout:
    return FakeRollout()


@dataclass(frozen=True)
class Stages:
    """What operators reach of them."""

    keys: FakeKeys
    office: FakeOffice
    brake: FakeBrake
    desk: FakeDesk
    printing: FakePrinting
    hospital: FakeHospital
    ward: FakeWard
    scales: FakeScales


@pytest.fixture
def stages(
    keys: FakeKeys,
    office: FakeOffice,
    brake: FakeBrake,
    desk: FakeDesk,
    printing: FakePrinting,
    hospital: FakeHospital,
    ward: FakeWard,
    scales: FakeScales,
) -> Stages:
    return Stages(keys, office, brake, desk, printing, hospital, ward, scales)


@pytest.fixture
def switchyard(
    api: FakeApi,
    cloud: FakeCloud,
    environment: dict[str, str],
    stages: Stages,
    releases: FakeRollout,
    tmp_path: Path,
) -> Switchyard:
    """Runs the command as a user would, without a terminal."""

    def run(*arguments: str | Path) -> Result:
        outside = Outside(
            environment=environment,
            clock=ManualClock(NOW_MS),
            new_key=lambda: "a-new-key",
            cloud=cloud,
            worker_output=tmp_path,
            deployed_url=no_such_stack,
            api_keys=stages.keys,
            key_move=stages.keys.move,
            kept_letters=stages.office,
            letter_watch=stages.office.watched,
            consumption=stages.brake,
            triggers=stages.desk,
            tenants=stages.desk.tenants,
            task_output=stages.printing,
            checker=stages.ward,
            measurer=stages.scales,
            rollout=releases,
            examiner=stages.hospital,
            transport=httpx.MockTransport(api),
        )
        return CliRunner().invoke(app, [str(argument) for argument in arguments], obj=outside)

    return run


def no_such_stack(stage: str) -> str:
    raise Unavailable(f"Stack with id switchyard-{stage}-producer-api does not exist")


@pytest.fixture
def log(api: FakeApi) -> FakeLog:
    """Of a job that has completed."""
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
