"""`up`, `down`, `status`."""

import io
from collections.abc import Sequence

import pytest
from rich.console import Console

from switchyard_cli.commands.local.cloud import saying
from switchyard_local import errors
from switchyard_local.endpoint import Endpoint
from switchyard_local.errors import CloudError
from switchyard_local.say import Say
from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.api import URL, FakeCloud


def test_up_tells_where_the_api_is(switchyard: Switchyard) -> None:
    result = switchyard("up")

    assert result.stdout == f"The local cloud is up: {URL}\n"
    assert result.stderr == "Deploying\n"


@pytest.mark.parametrize(
    ("options", "functions"),
    [
        ([], None),
        (["--functions", "./a", "--functions", "b"], ["./a", "b"]),
        (["--no-functions"], []),
    ],
)
def test_up_says_which_functions_the_worker_serves(
    options: list[str], functions: list[str] | None, switchyard: Switchyard, cloud: FakeCloud
) -> None:
    assert switchyard("up", *options).exit_code == 0
    assert cloud.functions == functions


def test_functions_are_served_or_not(switchyard: Switchyard) -> None:
    result = switchyard("up", "--functions", "./a", "--no-functions")

    assert result.stderr == "Give either --functions or --no-functions.\n"


def test_down_stops_it(switchyard: Switchyard, cloud: FakeCloud) -> None:
    assert switchyard("down").exit_code == 0
    assert not cloud.running


def test_status_of_a_cloud_that_is_up(switchyard: Switchyard) -> None:
    result = switchyard("status")

    assert URL in result.stdout
    assert result.exit_code == 0


@pytest.mark.parametrize(
    ("cloud", "reported"),
    [
        (FakeCloud(running=False), "The local cloud is not running;"),
        (FakeCloud(healthy=False), "The local cloud runs, but does not answer as it should"),
        (FakeCloud(worker_lives=False), "The local cloud runs, but has no worker; try `up` again."),
    ],
    ids=["down", "ill", "without a worker"],
)
def test_status_of_a_cloud_that_is_of_no_use(reported: str, switchyard: Switchyard) -> None:
    result = switchyard("status")

    assert result.stdout.startswith(reported)
    assert result.exit_code == 3


@pytest.mark.parametrize(
    ("failure", "sentence", "exit_code"),
    [
        (CloudError("Port 4580 is in use."), "Port 4580 is in use.", 3),
        (KeyboardInterrupt(), "Interrupted.", 130),
        (
            PermissionError(13, "Permission denied", "/cloud.json"),
            "The operating system refused: Permission denied (/cloud.json).",
            3,
        ),
        (
            OSError(28, "No space left on device"),
            "The operating system refused: No space left on device.",
            3,
        ),
    ],
)
def test_a_cloud_that_does_not_start(
    failure: BaseException,
    sentence: str,
    exit_code: int,
    switchyard: Switchyard,
    cloud: FakeCloud,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def up(say: Say, *, functions: Sequence[str] | None) -> Endpoint:
        raise failure

    monkeypatch.setattr(cloud, "up", up)

    result = switchyard("up")

    assert result.stderr == f"{sentence}\n"
    assert result.exit_code == exit_code


@pytest.mark.parametrize(
    ("installed", "suggested"),
    [(True, "start it with `switchyard up`."), (False, "`switchyard up` or `make up`.")],
)
def test_make_is_suggested_only_where_there_is_a_makefile(
    installed: bool, suggested: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(errors, "INSTALLED", installed)
    assert errors.not_running().endswith(suggested)


def test_a_terminal_that_is_gone_stops_nothing() -> None:
    class Gone(io.StringIO):
        def write(self, text: str, /) -> int:
            raise OSError(5, "Input/output error")

    saying(Console(file=Gone()))("Stopping the worker")
