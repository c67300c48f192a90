"""`artifacts`: which files there are, and getting them."""

import json
from pathlib import Path

import httpx
import pytest

from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.api import JOB_ID, FakeApi, a_task, a_task_view, answer
from tests.unit.cli.jobs.test_logs import DONE, REQUEST_ID, ROUTE, a_file


@pytest.fixture
def api(api: FakeApi) -> FakeApi:
    api.on(ROUTE, answer(DONE))
    for link in DONE.files:
        api.on(f"GET /bucket/{link.name}", httpx.Response(200, content=link.name.encode()))
    return api


def test_files_are_listed_with_their_sizes(switchyard: Switchyard, api: FakeApi) -> None:
    files = (a_file("a.txt", 999), a_file("b.txt", 1_500), a_file("c \x1b[2J.bin", 20_400_000))
    api.on(ROUTE, answer(a_task_view(a_task("scrape", "failed"), files=files)))

    result = switchyard("artifacts", REQUEST_ID)

    assert [line.split() for line in result.stdout.splitlines()[1:]] == [
        ["999", "B", "a.txt"],
        ["1.5", "kB", "b.txt"],
        ["20.4", "MB", "c", "[2J.bin"],
    ]


@pytest.mark.parametrize(
    ("status", "said"),
    [("completed", "No files.\n"), ("processing", "It is processing: none yet.\n")],
)
def test_a_task_without_files(status: str, said: str, switchyard: Switchyard, api: FakeApi) -> None:
    api.on(ROUTE, answer(a_task_view(a_task("scrape", status))))

    assert switchyard("artifacts", REQUEST_ID).stdout == said


def test_a_job_alone_does_not_name_a_task(switchyard: Switchyard, api: FakeApi) -> None:
    result = switchyard("artifacts", JOB_ID)

    assert result.stderr == f"Which task of {JOB_ID}? Name it after the job's id.\n"
    assert result.exit_code == 2


def test_they_are_not_brought_to_a_file(
    switchyard: Switchyard, api: FakeApi, tmp_path: Path
) -> None:
    (tmp_path / "here").touch()
    result = switchyard("artifacts", REQUEST_ID, "--to", tmp_path / "here")

    assert result.exit_code == 2
    assert api.requests == []


def test_they_are_brought_to_a_folder(switchyard: Switchyard, tmp_path: Path) -> None:
    result = switchyard("artifacts", REQUEST_ID, "--to", tmp_path / "here")

    assert result.exit_code == 0, result.stderr
    assert (tmp_path / "here/artifacts/result.json").read_text() == "artifacts/result.json"
    assert (tmp_path / "here/logs/stdout.log").read_text() == "logs/stdout.log"
    assert len([path for path in (tmp_path / "here").rglob("*") if path.is_file()]) == 3
    assert result.stdout == ""
    assert "3 files in" in result.stderr


def test_without_a_folder_it_is_named_like_the_task(
    switchyard: Switchyard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    switchyard("artifacts", REQUEST_ID, "--get")

    assert (tmp_path / REQUEST_ID / "logs" / "stdout.log").exists()


@pytest.mark.parametrize("name", ["../escaped", "/etc/passwd", "a/../../b", ""])
def test_no_name_leads_out_of_the_folder(
    name: str, switchyard: Switchyard, api: FakeApi, tmp_path: Path
) -> None:
    api.on(ROUTE, answer(a_task_view(a_task("scrape", "completed"), files=(a_file(name),))))

    result = switchyard("artifacts", REQUEST_ID, "--to", tmp_path / "here")

    assert "would be saved outside of its folder" in result.stderr
    assert result.exit_code == 3
    assert list(tmp_path.iterdir()) == []


def test_a_download_that_breaks_leaves_no_file_of_that_name(
    switchyard: Switchyard, api: FakeApi, tmp_path: Path
) -> None:
    api.on("GET /bucket/artifacts/result.json", httpx.ReadError("broken"))

    result = switchyard("artifacts", REQUEST_ID, "--to", tmp_path)

    assert result.exit_code == 3
    assert not (tmp_path / "artifacts" / "result.json").exists()


def test_json_lists_them_with_their_links(switchyard: Switchyard) -> None:
    listed = json.loads(switchyard("artifacts", REQUEST_ID, "--json").stdout)

    assert [file["name"] for file in listed] == [link.name for link in DONE.files]
    assert listed[0]["url"].startswith("http")
