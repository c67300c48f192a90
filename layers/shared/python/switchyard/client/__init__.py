"""Submits jobs from Python and sees them through.

from switchyard.client import Client, Job

job = Job("brand")
store = job.task("scrape-store", input={"url": "https://shop.example"})
colors = job.task("color-tags", after=[store])
fonts = job.task("font-pairing", after=[store])
report = job.task("compile-result", after=[colors, fonts])

with Client(url, key) as client:
    job_id = client.submit(job).job_id
    client.wait(job_id)
    print(client.task(job_id, report).output)
"""

from typing import TYPE_CHECKING

from switchyard.on_demand import on_demand

if TYPE_CHECKING:
    from switchyard.client.client import Client
    from switchyard.client.errors import (
        ClientError,
        KeyRefused,
        NotConnected,
        NotFound,
        Refused,
        RefusedForNow,
        StillRunning,
        TooManyRequests,
        Unreachable,
        UnsafeName,
        UnusableFile,
        UnusableJob,
    )
    from switchyard.client.job import Job, Task
    from switchyard.contracts.triggers import TriggerContent

__all__ = [
    "Client",
    "ClientError",
    "Job",
    "KeyRefused",
    "NotConnected",
    "NotFound",
    "Refused",
    "RefusedForNow",
    "StillRunning",
    "Task",
    "TooManyRequests",
    "TriggerContent",
    "Unreachable",
    "UnsafeName",
    "UnusableFile",
    "UnusableJob",
]

__getattr__ = on_demand(
    __name__,
    {
        "client": ("Client", "TriggerContent"),
        "errors": (
            "ClientError",
            "KeyRefused",
            "NotConnected",
            "NotFound",
            "Refused",
            "RefusedForNow",
            "StillRunning",
            "TooManyRequests",
            "Unreachable",
            "UnsafeName",
            "UnusableFile",
            "UnusableJob",
        ),
        "job": ("Job", "Task"),
    },
)
