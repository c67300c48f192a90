from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner, Result

from cli.main import app
from cli.outside import Outside
from switchyard.adapters.memory import ManualClock
from switchyard.domain.errors import Unavailable
from tests.unit.cli.fakes import NOW_MS, FakeApi, FakeCloud

Switchyard = Callable[..., Result]
NewDeployedKey = Callable[[str, str], str]


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
def new_deployed_key() -> NewDeployedKey:
    return lambda tenant, stage: f"swy.{tenant}.from-{stage}"


@pytest.fixture
def switchyard(
    api: FakeApi,
    cloud: FakeCloud,
    environment: dict[str, str],
    new_deployed_key: NewDeployedKey,
    tmp_path: Path,
) -> Switchyard:
    """Runs the command as a user would, without a terminal."""

    def run(*arguments: str | Path) -> Result:
        outside = Outside(
            environment=environment,
            clock=ManualClock(NOW_MS),
            cloud=cloud,
            worker_output=tmp_path,
            deployed_url=no_such_stack,
            new_deployed_key=new_deployed_key,
            transport=httpx.MockTransport(api),
        )
        return CliRunner().invoke(app, [str(argument) for argument in arguments], obj=outside)

    return run


def no_such_stack(stage: str) -> str:
    raise Unavailable(f"Stack with id switchyard-{stage}-producer-api does not exist")
