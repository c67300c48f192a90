"""Examples of requests and answers, for readers of the description."""

from typing import Any, Final

_JOB_ID: Final = "job-6f1c2a34-9b7e-4d05-8c11-2f4a7be0d9a3"
_CREATED: Final = "2027-01-15T08:00:00Z"

EXAMPLES: Final[dict[str, list[Any]]] = {
    "SubmitJob": [
        {
            "name": "brand analysis",
            "tags": {"team": "web"},
            "notify": {"channel": "#brand"},
            "tasks": [
                {
                    "taskId": "scrape-store",
                    "name": "scrape",
                    "input": {"url": "https://shop.example"},
                },
                {"taskId": "color-tags", "name": "tag", "dependsOn": ["scrape-store"]},
            ],
        }
    ],
    "JobAccepted": [
        {
            "jobId": _JOB_ID,
            "status": "created",
            "totalTasks": 2,
            "rootTasks": ["scrape-store"],
            "createdAt": _CREATED,
            "traceId": "4bf92f3577b34da6a3ce929d0e0e4736",
        }
    ],
    "AddTasks": [{"tasks": [{"taskId": "fonts", "name": "tag", "dependsOn": ["scrape-store"]}]}],
    "TasksAdded": [
        {
            "jobId": _JOB_ID,
            "addedTasks": ["fonts"],
            "immediatelyReady": [],
            "totalTasksNow": 3,
        }
    ],
    "RedriveJob": [{}, {"tasks": ["scrape-store"], "maxTurns": 30}],
    "TaskDefinition": [
        {
            "description": "Read the shop's start page and list what it sells.",
            "tag": "a careful researcher",
            "tools": ["WebFetch"],
            "maxTurns": 20,
            "timeout": 300000,
            "outputSchema": {"type": "object", "required": ["products"]},
        }
    ],
    "TriggerContent": [
        {
            "description": "A report on every working day.",
            "schedule": "cron(0 9 ? * MON-FRI *)",
            "timeZone": "Europe/Berlin",
            "job": {
                "name": "report of {{schedule.time}}",
                "tasks": [{"taskId": "report", "name": "write-report"}],
            },
        }
    ],
    "FireTrigger": [{}, {"event": {"detail": {"jobId": _JOB_ID}}}],
    "FileLink": [
        {
            "name": "artifacts/task-result.json",
            "size": 5120,
            "contentType": "application/json",
            "url": "https://bucket.s3.eu-west-1.amazonaws.com/task/logs/…?X-Amz-Signature=…",
        }
    ],
    "ProblemDetails": [
        {
            "title": "Bad Request",
            "status": 400,
            "detail": "tasks.0.name: 'scrap' is not a registered task definition",
            "problems": [
                {
                    "path": "tasks.0.name",
                    "message": "'scrap' is not a registered task definition",
                }
            ],
        }
    ],
}
