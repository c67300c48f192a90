"""What the API answers, as its handler writes it, over a simulated stage."""

import importlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final
from unittest.mock import patch

from switchyard.adapters import aws
from tests.builders import TENANT
from tests.compatibility.stage import Stage
from tests.compatibility.use_cases import named
from tests.fakes.tables import BUCKET
from tests.lambdas.conftest import FakeContext, load_handler

_ENVIRONMENT: Final = {
    "AWS_DEFAULT_REGION": "eu-west-1",
    "POWERTOOLS_TRACE_DISABLED": "true",
    "POWERTOOLS_METRICS_NAMESPACE": "Switchyard",
    "POWERTOOLS_SERVICE_NAME": "api",
    "POWERTOOLS_LOG_LEVEL": "CRITICAL",
    "STAGE": "test",
    "EVENTBRIDGE_BUS_NAME": "bus",
    "STATE_TABLE_NAME": "state-test",
    "TASK_DEFINITIONS_TABLE": "definitions",
    "DYNAMODB_EVENTS_TABLE_NAME": "events-test",
    "S3_BUCKET": BUCKET,
    "DISPATCH_QUEUE_URL": "dispatch",
    "JOB_QUEUE_URL": "dispatch",
    "SQS_QUEUE_URL": "tasks",
    "TRIGGER_QUEUE_ARN": "arn:aws:sqs:eu-west-1:123456789012:triggers",
    "TRIGGER_DEAD_LETTERS_ARN": "arn:aws:sqs:eu-west-1:123456789012:triggers-dlq",
}
_DEFINITION: Final = {"description": "Tell.", "tag": "teller", "retry": {"maxAttempts": 2}}


class _LinkingS3:
    """The stage's bucket, with links that lead nowhere."""

    def __init__(self, bucket: Any) -> None:
        self._bucket = bucket

    def __getattr__(self, name: str) -> Any:
        return getattr(self._bucket, name)

    def generate_presigned_url(self, _operation: str, **request: Any) -> str:
        return f"https://bucket.example.com/{request['Params']['Key']}?signature=x"


@dataclass
class Api:
    stage: Stage
    answers: list[dict[str, Any]] = field(default_factory=list)
    _handler: Any = None

    def ask(self, method: str, path: str, body: Any = None, **query: str) -> Any:
        """Call the handler, note the answer and return what it says."""
        event = _request(method, path, body, query)
        with patch("sys.stdout"):  # metrics
            answer = self._handler(event, FakeContext())
        self.answers.append(
            {
                "method": method,
                "path": path,
                "query": query,
                "status": answer["statusCode"],
                "body": json.loads(answer["body"]),
            }
        )
        return self.answers[-1]["body"]


@contextmanager
def api_of(stage: Stage) -> Iterator[Api]:
    services = {
        "dynamodb": stage.cloud.dynamodb,
        "sqs": stage.cloud.sqs,
        "s3": _LinkingS3(stage.cloud.s3),
        "events": stage.cloud.bus,
    }
    importlib.import_module("aws_lambda_powertools")
    with (
        patch.dict("os.environ", _ENVIRONMENT),
        patch.object(aws, "client", lambda service, **_: services[service]),
    ):
        yield Api(stage, _handler=load_handler("api").handler)


def ask_for_everything(api: Api) -> None:
    """Every route, with what was found and what was refused."""
    brand, troubled, slow = (
        named(api.stage, name).job_id for name in ("brand", "troubled", "slow")
    )
    _read(api, brand, troubled)
    _write(api, brand, slow, troubled)


def _read(api: Api, brand: str, troubled: str) -> None:
    first = api.ask("GET", "/jobs", limit="1")
    api.ask("GET", "/jobs", limit="1", cursor=first["cursor"])
    api.ask("GET", "/jobs", status="failed")
    for job in (brand, troubled):
        api.ask("GET", f"/jobs/{job}")
        events = api.ask("GET", f"/jobs/{job}/events", limit="3")
        api.ask("GET", f"/jobs/{job}/events", limit="3", cursor=events["cursor"])
    api.ask("GET", f"/jobs/{brand}/tasks/large-colors")
    api.ask("GET", f"/jobs/{brand}/tasks/ok-fonts")
    api.ask("GET", f"/jobs/{troubled}/tasks/fail-parse")
    api.ask("GET", "/events", limit="2", order="newest")
    api.ask("GET", "/events", type="task-completed", limit="2")
    api.ask("GET", "/health")
    api.ask("GET", "/task-definitions")
    api.ask("GET", "/task-definitions/research")
    api.ask("GET", "/task-definitions/scrape/versions/1")


def _write(api: Api, brand: str, slow: str, troubled: str) -> None:
    api.ask("PUT", "/task-definitions/tell", _DEFINITION)
    accepted = api.ask("POST", "/jobs", {"tasks": [{"taskId": "a", "name": "tell"}]})
    more = {"tasks": [{"taskId": "b", "name": "tell", "dependsOn": ["a"]}]}
    api.ask("POST", f"/jobs/{accepted['jobId']}/tasks", more)
    api.ask("POST", f"/jobs/{accepted['jobId']}/tasks/b/cancel")
    api.ask("POST", f"/jobs/{accepted['jobId']}/cancel")
    api.ask("POST", f"/jobs/{troubled}/redrive", {})
    api.ask("PUT", "/task-definitions/unused", _DEFINITION)
    api.ask("DELETE", "/task-definitions/unused")
    api.ask("POST", "/jobs", {"tasks": [{"taskId": "a", "name": "nobody", "colour": 1}]})
    api.ask("POST", f"/jobs/{brand}/cancel")
    api.ask("GET", "/jobs/job-00000000-0000-4000-8000-000000000000")
    api.ask("GET", f"/jobs/{slow}/events", type="no-such-type")


def _request(method: str, path: str, body: Any, query: dict[str, str]) -> dict[str, Any]:
    return {
        "version": "2.0",
        "routeKey": f"{method} {path}",
        "rawPath": path,
        "rawQueryString": "&".join(f"{name}={value}" for name, value in query.items()),
        "queryStringParameters": query,
        "headers": {"content-type": "application/json", "x-api-key": "k"},
        "requestContext": {
            "requestId": "r-1",
            "stage": "$default",
            "http": {"method": method, "path": path},
            "authorizer": {"lambda": {"tenant": TENANT, "keyId": "0123456789ab"}},
        },
        "body": json.dumps(body) if body is not None else None,
        "isBase64Encoded": False,
    }
