"""Links for uploads, and a job that is accepted, as the API answers them."""

import hashlib

import httpx

from switchyard.contracts.files import UploadLink
from tests.unit.cli.fakes.api import answer

BUCKET = "https://bucket.example/x?signed=1"
ACCEPTED = {
    "jobId": "job-1",
    "totalTasks": 1,
    "rootTasks": ["a"],
    "createdAt": "2027-01-31T12:00:00Z",
}


def a_link(content: bytes, *, uploaded: bool = False) -> httpx.Response:
    headers = {"Content-Length": str(len(content)), "x-amz-checksum-sha256": "abc="}
    link = UploadLink(
        sha256=hashlib.sha256(content).hexdigest(),
        size=len(content),
        uploaded=uploaded,
        url=None if uploaded else BUCKET,
        headers={} if uploaded else headers,
    )
    return answer(link)
