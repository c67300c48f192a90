"""Files that a program submits with a job."""

import hashlib
from pathlib import Path

import httpx
import pytest

from switchyard.client import Client, Job, Refused, UnusableFile
from switchyard.client.uploads import PIECE_BYTES, local_files
from switchyard.domain.jobs.files import MAX_FILE_BYTES
from tests.unit.cli.fakes.api import FakeApi, answer
from tests.unit.cli.fakes.uploads import ACCEPTED, a_link


@pytest.fixture
def brief(tmp_path: Path) -> Path:
    path = tmp_path / "Brief.PDF"
    path.write_bytes(b"x" * (PIECE_BYTES + 3))
    return path


def a_job() -> Job:
    job = Job()
    job.task("a", files=["job/brief"], artifacts=["report.md"])
    return job


def test_a_file_is_sent_in_pieces_without_the_key_and_named_in_the_job(
    client: Client, api: FakeApi, brief: Path
) -> None:
    content = brief.read_bytes()
    api.on("POST /files", a_link(content))
    api.on("PUT /x", httpx.Response(200))
    api.on("POST /jobs", answer(ACCEPTED, 201))

    client.submit(a_job(), files={"brief": brief})

    checksum = hashlib.sha256(content).hexdigest()
    named = {"sha256": checksum, "size": len(content)}
    assert api.sent("POST /files") == [named]
    (sent,) = (request for request in api.requests if request.method == "PUT")
    assert sent.content == content
    assert sent.headers["content-length"] == str(len(content))
    assert "transfer-encoding" not in sent.headers
    assert "x-api-key" not in sent.headers
    (submitted,) = api.sent("POST /jobs")
    assert submitted["files"] == {"brief.PDF": named}
    assert submitted["tasks"][0]["files"] == ["job/brief"]
    assert submitted["tasks"][0]["artifacts"] == ["report.md"]


def test_a_content_that_is_there_is_not_sent_again(
    client: Client, api: FakeApi, brief: Path
) -> None:
    api.on("POST /files", a_link(brief.read_bytes(), uploaded=True))
    api.on("POST /jobs", answer(ACCEPTED, 201))
    client.submit(a_job(), files={"brief": str(brief)})
    assert not [request for request in api.requests if request.method == "PUT"]


def test_an_outage_of_the_bucket_is_waited_for(client: Client, api: FakeApi, brief: Path) -> None:
    api.on("POST /files", a_link(brief.read_bytes()))
    api.on("PUT /x", httpx.Response(503), httpx.Response(200))
    api.on("POST /jobs", answer(ACCEPTED, 201))
    client.submit(a_job(), files={"brief": brief})
    assert [request.method for request in api.requests].count("PUT") == 2


def test_a_refused_upload_says_what_may_be_wrong(client: Client, api: FakeApi, brief: Path) -> None:
    api.on("POST /files", a_link(brief.read_bytes()))
    api.on("PUT /x", httpx.Response(400))
    with pytest.raises(Refused, match="the file changed while it was sent"):
        client.submit(a_job(), files={"brief": brief})
    assert api.sent("POST /jobs") == []


def test_files_that_cannot_be_submitted_are_refused_before_anything_is_sent(
    tmp_path: Path, brief: Path
) -> None:
    sparse = tmp_path / "large"
    with sparse.open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    for name, path, said in [
        ("a", tmp_path / "nothing", "No such file"),
        ("a", tmp_path, "is a folder"),
        ("a", Path("/dev/null"), "not an ordinary file"),
        ("a", sparse, "at most 100 MB"),
        ("", brief, "name of a file must be"),
        ("../a", brief, "name of a file must be"),
        (".hidden", brief, "name of a file must be"),
    ]:
        with pytest.raises(UnusableFile, match=said):
            local_files({name: path})
    with pytest.raises(UnusableFile, match=r"Two files have the name 'brief\.PDF'"):
        local_files({"brief": brief, "brief.PDF": brief})
    with pytest.raises(UnusableFile, match="at most 100 files"):
        local_files({f"f{number}": brief for number in range(101)})
