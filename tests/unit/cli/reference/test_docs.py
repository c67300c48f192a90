"""`docs`: the page of the API, for browsers that cannot send a key."""

from pathlib import Path

import httpx

from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.api import KEY, FakeApi, problem

PAGE = "<!doctype html><title>Switchyard</title>"


def test_the_page_is_fetched_with_the_key_and_saved(
    switchyard: Switchyard, api: FakeApi, tmp_path: Path
) -> None:
    api.on("GET /docs", httpx.Response(200, text=PAGE))
    file = tmp_path / "api.html"

    result = switchyard("docs", "--to", file)

    assert result.stdout == f"The reference was saved as {file}: open it in a browser.\n"
    assert file.read_text() == PAGE
    assert api.requests[0].headers["x-api-key"] == KEY


def test_without_a_name_it_is_a_temporary_file(switchyard: Switchyard, api: FakeApi) -> None:
    api.on("GET /docs", httpx.Response(200, text=PAGE))

    said = switchyard("docs").stdout.strip()
    file = Path(said.removeprefix("The reference was saved as ").partition(": open it")[0])

    assert file.read_text() == PAGE
    file.unlink()
    file.parent.rmdir()


def test_the_openapi_document(switchyard: Switchyard, api: FakeApi, tmp_path: Path) -> None:
    api.on("GET /openapi.json", httpx.Response(200, text="{}"))

    result = switchyard("docs", "--openapi", "--to", tmp_path / "api.json")

    assert result.stdout == f"The OpenAPI document was saved as {tmp_path / 'api.json'}.\n"
    assert (tmp_path / "api.json").read_text() == "{}"


def test_a_refusal_writes_nothing(switchyard: Switchyard, api: FakeApi, tmp_path: Path) -> None:
    api.on("GET /docs", problem(403, "No."))

    result = switchyard("docs", "--to", tmp_path / "api.html")

    assert result.exit_code != 0
    assert not (tmp_path / "api.html").exists()


def test_a_folder_that_is_not_there(switchyard: Switchyard, api: FakeApi, tmp_path: Path) -> None:
    api.on("GET /docs", httpx.Response(200, text=PAGE))

    result = switchyard("docs", "--to", tmp_path / "none" / "api.html")

    assert result.exit_code == 3
    assert "No such file or directory" in result.stderr
