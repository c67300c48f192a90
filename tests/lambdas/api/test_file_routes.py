"""`POST /files`, and jobs that name what was uploaded, as API Gateway calls them."""

import base64
import hashlib
from urllib.parse import urlsplit

import pytest

from switchyard.adapters import aws
from tests.fakes.tables import BUCKET
from tests.lambdas.api.test_submitting import Submissions, a_body, submit

__all__ = ["submit"]

CONTENT = b"make it short"
SHA256 = hashlib.sha256(CONTENT).hexdigest()
BRIEF = {"sha256": SHA256, "size": len(CONTENT)}


def test_a_link_is_for_the_tenants_own_prefix_and_for_one_content(submit: Submissions) -> None:
    status, link = submit.call("POST", "/files", BRIEF, {})
    assert status == 200
    assert urlsplit(link["url"]).path.endswith(f"/task/uploads/acme/{SHA256}")
    checksum = base64.b64encode(hashlib.sha256(CONTENT).digest()).decode()
    assert link["headers"]["x-amz-checksum-sha256"] == checksum
    assert link["headers"]["Content-Length"] == str(len(CONTENT))
    assert link["uploaded"] is False


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"size": 1}, "sha256"),
        ({"sha256": "../../etc", "size": 1}, "sha256"),
        ({"sha256": SHA256, "size": 200_000_000}, "size"),
        ({"sha256": SHA256, "size": 1, "key": "task/x"}, "key"),
    ],
)
def test_a_link_for_anything_else_is_refused(
    submit: Submissions, body: dict[str, object], path: str
) -> None:
    status, problem = submit.call("POST", "/files", body, {})
    assert (status, [p["path"] for p in problem["problems"]]) == (400, [path])


def test_a_job_names_what_was_uploaded(submit: Submissions) -> None:
    body = a_body(edges={"a": []}) | {"files": {"brief.txt": BRIEF}}
    body["tasks"][0]["files"] = ["job/brief"]
    status, problem = submit(body)
    assert (status, [p["path"] for p in problem["problems"]]) == (400, ["files.brief.txt"])
    aws.client("s3").put_object(Bucket=BUCKET, Key=f"task/uploads/acme/{SHA256}", Body=CONTENT)
    status, accepted = submit(body)
    assert status == 201
    (file,) = submit.job(accepted["jobId"])["files"]
    assert (file["name"], file["sha256"], file["size"]) == ("brief.txt", SHA256, len(CONTENT))
    assert submit.call("POST", "/files", BRIEF, {})[1]["uploaded"] is True
