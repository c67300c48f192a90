"""Whatever a user can get wrong ends in a sentence and an exit code."""

import errno

import httpx
import pytest

from switchyard_local.errors import refused_by_system
from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.api import JOB_ID, FakeApi, FakeCloud, problem

NOT_RUNNING = "The local cloud is not running"


def test_an_unknown_stage_names_the_known_ones(switchyard: Switchyard) -> None:
    result = switchyard("jobs", "--stage", "staging")

    reported = " ".join(result.stderr.replace("│", " ").split())
    assert "'staging' is not one of 'local', 'dev', 'prod'" in reported
    assert result.exit_code == 2


def test_a_deployed_stage_needs_a_key(switchyard: Switchyard) -> None:
    result = switchyard("jobs", "--stage", "dev")

    assert result.stderr == (
        "The stage dev needs an API key: set SWITCHYARD_API_KEY to yours. "
        "`switchyard keys issue TENANT --stage dev` issues one.\n"
    )
    assert result.exit_code == 2


def test_a_stage_that_is_not_deployed(switchyard: Switchyard, environment: dict[str, str]) -> None:
    environment["SWITCHYARD_API_KEY"] = "mine"

    result = switchyard("jobs", "--stage", "prod")

    assert "switchyard-prod-producer-api does not exist" in result.stderr
    assert "set SWITCHYARD_API_URL" in result.stderr
    assert result.exit_code == 3


@pytest.mark.parametrize("url", ["nonsense", "ftp://x", "http://[", "https://"])
def test_a_wrong_url(url: str, switchyard: Switchyard, environment: dict[str, str]) -> None:
    environment |= {"SWITCHYARD_API_KEY": "mine", "SWITCHYARD_API_URL": url}

    result = switchyard("jobs", "--stage", "dev")

    assert f"SWITCHYARD_API_URL is {url!r}" in result.stderr
    assert result.exit_code == 2


def test_a_key_that_no_header_can_carry(
    switchyard: Switchyard, environment: dict[str, str]
) -> None:
    environment["SWITCHYARD_API_KEY"] = "schlüssel\n"

    result = switchyard("jobs", "--stage", "dev")

    assert "SWITCHYARD_API_KEY contains characters that no API key has" in result.stderr
    assert result.exit_code == 2


@pytest.mark.parametrize("status", [401, 403])
def test_a_wrong_key(
    status: int, switchyard: Switchyard, api: FakeApi, environment: dict[str, str]
) -> None:
    environment |= {"SWITCHYARD_API_KEY": "mine", "SWITCHYARD_API_URL": "https://x.example/api"}
    api.on("GET /jobs", httpx.Response(status, json={"message": "Forbidden"}))

    result = switchyard("jobs", "--stage", "dev")

    assert result.stderr == "The API of the stage dev refused the key; check SWITCHYARD_API_KEY.\n"
    assert result.exit_code == 2


@pytest.mark.parametrize(
    "command", [["jobs"], ["watch", JOB_ID], ["definitions", "list"]], ids=" ".join
)
def test_a_local_cloud_that_is_down(
    command: list[str], switchyard: Switchyard, cloud: FakeCloud
) -> None:
    cloud.running = False

    result = switchyard(*command)

    assert result.stderr.startswith(NOT_RUNNING)
    assert result.exit_code == 3


def test_a_folder_from_the_environment_is_named_with_its_variable(
    switchyard: Switchyard, cloud: FakeCloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SWITCHYARD_FOLDER", "/srv/typo")
    cloud.running = False

    assert "in /srv/typo (SWITCHYARD_FOLDER) is not running" in switchyard("jobs").stderr


def test_what_the_system_refuses_below_that_folder_names_the_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SWITCHYARD_FOLDER", "/srv/file")
    error = NotADirectoryError(errno.ENOTDIR, "Not a directory", "/srv/file/cloud.json")

    assert refused_by_system(error) == (
        "The operating system refused: Not a directory (/srv/file/cloud.json, below "
        "SWITCHYARD_FOLDER)."
    )


def test_a_local_cloud_that_died(switchyard: Switchyard, api: FakeApi) -> None:
    api.on("GET /jobs", httpx.ConnectError("Connection refused"))

    result = switchyard("jobs")

    assert result.stderr.startswith(NOT_RUNNING)
    assert result.exit_code == 3


def test_an_api_that_is_slow(switchyard: Switchyard, api: FakeApi) -> None:
    api.on("GET /jobs", httpx.ReadTimeout("timed out"))

    result = switchyard("jobs")

    assert "did not answer in time" in result.stderr
    assert result.exit_code == 3


@pytest.mark.parametrize("status", [429, 500, 502])
def test_an_api_that_cannot_answer(status: int, switchyard: Switchyard, api: FakeApi) -> None:
    api.on("GET /jobs", httpx.Response(status, text="<html>oops</html>"))

    result = switchyard("jobs")

    assert f"The API could not answer ({status})" in result.stderr
    assert result.exit_code == 3


def test_a_server_that_is_no_switchyard(switchyard: Switchyard, api: FakeApi) -> None:
    api.on("GET /jobs", httpx.Response(200, text="It works!"))

    result = switchyard("jobs")

    assert "not as a Switchyard API does" in result.stderr
    assert result.exit_code == 3


def test_an_unknown_job(switchyard: Switchyard, api: FakeApi) -> None:
    api.on(f"GET /jobs/{JOB_ID}", problem(404, f"there is no job {JOB_ID}"))

    result = switchyard("job", JOB_ID)

    assert result.stderr == f"The API refused: there is no job {JOB_ID}.\n"
    assert result.exit_code == 2


@pytest.mark.parametrize(
    "command",
    [
        ["job", "../secrets"],
        ["watch", "42"],
        ["task", "42"],
        ["task", JOB_ID],
        ["task", JOB_ID, "a/b"],
        ["jobs", "--limit", "0"],
        ["jobs", "--limit", "many"],
        ["fly"],
        [],
    ],
    ids=lambda words: " ".join(words) or "nothing",
)
def test_bad_usage(command: list[str], switchyard: Switchyard, api: FakeApi) -> None:
    result = switchyard(*command)

    assert result.exit_code == 2
    assert api.requests == []
