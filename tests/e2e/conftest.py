"""One local cloud for the whole folder, deployed by the real CDK CLI, with its calls recorded.

Its functions find their layers and nothing else of this machine, as on AWS.
"""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import boto3
import httpx
import pytest
import yaml
from boto3.dynamodb.conditions import Key

from stacks.dependencies import bundle_dependencies
from switchyard.adapters.dynamodb.job_intake import DynamoDbJobIntake
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.system import SystemClock, SystemIds
from switchyard.contracts.jobs import JobView, TaskView
from switchyard.domain.ids import JobRef, due_shard
from switchyard.domain.jobs.graph import TaskSpec
from switchyard.domain.jobs.plan import JobPlan, Pinned, plan_job
from switchyard.domain.tasks.due import AFTER_SETTLING
from switchyard.testing.transport import MemoryBlobStore
from switchyard_local.cloud import LocalCloud
from switchyard_local.endpoint import Endpoint
from tests.e2e.documents import DEFINITION
from tests.e2e.workers import Workers, instead_of_its_own
from tests.stacks.this_host import THIS_HOST

ROOT = Path(__file__).parents[2]
RECORDER = Path(__file__).parent / "recorder"
SETTLED = {"completed", "failed", "cancelled"}
PATIENCE_SECONDS = 60
BEAT_MS = 1000


@dataclass
class RunningCloud:
    endpoint: Endpoint
    folder: Path
    calls: Path
    """Where the recorder writes."""
    local: LocalCloud

    @property
    def http(self) -> httpx.Client:
        return self.http_with({"x-api-key": self.endpoint.api_key})

    def http_with(self, headers: dict[str, str]) -> httpx.Client:
        """Return a client that loads no certificates: without TLS, half of what it costs."""
        return httpx.Client(
            base_url=self.endpoint.api_url, headers=headers, timeout=30, verify=False
        )

    @property
    def aws(self) -> dict[str, str]:
        return _aws(self.endpoint)

    def client(self, service: str) -> Any:
        return _client(service, self.endpoint)

    def table(self, name: str) -> Any:
        return _tables(self.endpoint).Table(name)

    def output(self, stack: str, name: str) -> str:
        outputs = json.loads((self.folder / "outputs.json").read_text())
        value: str = outputs[f"switchyard-local-{stack}"][name]
        return value

    def submit(self, document: dict[str, Any]) -> str:
        with self.http as http:
            for name, definition in document.get("definitions", {}).items():
                http.put(f"/task-definitions/{name}", json=definition).raise_for_status()
            job = {key: value for key, value in document.items() if key != "definitions"}
            accepted = http.post("/jobs", json=job)
            assert accepted.status_code == 201, accepted.text
            job_id: str = accepted.json()["jobId"]
            return job_id

    def lose(self, plan: JobPlan, *, opened_ms_ago: int) -> None:
        """Take a job in as the API does, and crash before Job Created is emitted."""
        table = DynamoDbTable(
            self.client("dynamodb"), self.output("infrastructure", "StateTableName")
        )
        intake = DynamoDbJobIntake(table, DynamoDbPayloads(table, MemoryBlobStore()))
        intake.write(plan)
        intake.open(plan, now_ms=SystemClock().now_ms() - opened_ms_ago)

    def make_overdue(self, job_id: str, task_id: str) -> None:
        """Leave a task as a dispatcher does that crashed before it followed the task."""
        task = JobRef("local", job_id).task(task_id)
        self.table(self.output("infrastructure", "StateTableName")).update_item(
            Key={"PK": f"TENANT#local#JOB#{job_id}", "SK": f"TASK#{task_id}"},
            UpdateExpression="SET due_shard = :shard, due_at_ms = :then",
            ExpressionAttributeValues={":shard": due_shard(task.request_id), ":then": 1},
        )

    def sweep(self) -> None:
        answer = self.client("lambda").invoke(FunctionName="switchyard-local-sweep", Payload=b"{}")
        assert "FunctionError" not in answer, answer["Payload"].read()

    @contextmanager
    def configured(self, function: str, **variables: str) -> Iterator[None]:
        """The function has these environment variables too, within the block."""
        functions = self.client("lambda")
        before = functions.get_function_configuration(FunctionName=function)["Environment"]
        changed = {"Variables": before["Variables"] | variables}
        functions.update_function_configuration(FunctionName=function, Environment=changed)
        try:
            yield
        finally:
            functions.update_function_configuration(FunctionName=function, Environment=before)

    def settled(self, job_id: str) -> JobView:
        clock = SystemClock()
        deadline = clock.monotonic() + PATIENCE_SECONDS
        with self.http as http:
            while True:
                view = JobView.model_validate(http.get(f"/jobs/{job_id}").json())
                if view.status in SETTLED:
                    return view
                assert clock.monotonic() < deadline, f"still {view.status}: {view.progress}"
                clock.sleep(0.2)

    def task(self, job_id: str, task_id: str) -> TaskView:
        with self.http as http:
            return TaskView.model_validate(http.get(f"/jobs/{job_id}/tasks/{task_id}").json())

    def control_item(self, job_id: str, task_id: str) -> dict[str, Any]:
        key = {"PK": f"TENANT#local#JOB#{job_id}", "SK": f"TASK#{task_id}"}
        table = self.table(self.output("infrastructure", "StateTableName"))
        item: dict[str, Any] = table.get_item(Key=key, ConsistentRead=True)["Item"]
        return item

    def named_job(self, job_id: str, task_id: str) -> list[dict[str, Any]]:
        """The task's events in the log, oldest first."""
        table = self.table(self.output("infrastructure", "EventsTableName"))
        entity = Key("GSI1PK").eq(f"TASK#{job_id}__{task_id}")
        answer = table.query(IndexName="GSI1-index", KeyConditionExpression=entity)
        return list(answer["Items"])

    def messages(self, queue_url: str) -> tuple[int, int]:
        """How many are waiting, and how many are in flight."""
        counts = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        answer = self.client("sqs").get_queue_attributes(QueueUrl=queue_url, AttributeNames=counts)
        waiting, in_flight = (int(answer["Attributes"][count]) for count in counts)
        return waiting, in_flight

    def blob(self, task: TaskView, name: str) -> str:
        assert task.artifacts is not None
        bucket, _, prefix = task.artifacts.removeprefix("s3://").partition("/")
        answer = self.client("s3").get_object(Bucket=bucket, Key=f"{prefix}{name}")
        text: str = answer["Body"].read().decode()
        return text

    def prompt(self, task: TaskView) -> str:
        """What the agent of its one step was asked."""
        (step,) = json.loads(self.blob(task, "traces/session_trace.json"))["steps"]
        prompt: str = step["prompt"]
        return prompt


@contextmanager
def running(folder: Path, *, thinks_ms: int) -> Iterator[RunningCloud]:
    calls = folder / "calls.jsonl"
    local = LocalCloud(
        folder,
        port=free_port(),
        extra_environment={
            "PYTHONPATH": str(RECORDER),
            "RECORD_CALLS_TO": str(calls),
            "FUNCTION_PACKAGES": str(bundle_dependencies(THIS_HOST) / "python"),
            "OFFLINE_DELAY_MS": str(thinks_ms),
            "VISIBILITY_EXTENSION_INTERVAL": str(BEAT_MS),
            "SWITCHYARD_SAVE_SECONDS": "60",
        },
    )
    try:
        yield RunningCloud(local.up(print), folder, calls, local)
    finally:
        local.down(print)


@pytest.fixture(scope="package")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningCloud]:
    with running(tmp_path_factory.mktemp("a cloud"), thinks_ms=100) as cloud:
        yield cloud


@pytest.fixture(scope="module")
def workers(cloud: RunningCloud, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workers]:
    folder = tmp_path_factory.mktemp("workers")
    with instead_of_its_own(cloud.local, cloud.folder, folder) as workers:
        yield workers


@pytest.fixture(scope="package")
def brand_job(cloud: RunningCloud) -> JobView:
    """The example job, run to its end."""
    document = yaml.safe_load((ROOT / "examples" / "brand-analysis.yaml").read_text())
    return cloud.settled(cloud.submit(document))


@pytest.fixture(scope="package")
def swept_job(cloud: RunningCloud) -> JobView:
    """A job whose creation was never emitted, started by the sweeper and run to its end."""
    with cloud.http as http:
        put = http.put("/task-definitions/do", json=DEFINITION).raise_for_status()
    job = JobRef("local", SystemIds().new_job_id())
    plan = plan_job(
        job,
        name="lost",
        tags={},
        specs=[
            TaskSpec(task_id="a", name="do"),
            TaskSpec(task_id="b", name="do", depends_on=("a",)),
        ],
        pinned={"do": Pinned(put.json()["version"])},
        now_ms=SystemClock().now_ms(),
    )
    cloud.lose(plan, opened_ms_ago=AFTER_SETTLING + 1)
    cloud.sweep()
    return cloud.settled(job.job_id)


def _aws(endpoint: Endpoint) -> dict[str, str]:
    return {
        "endpoint_url": endpoint.aws_endpoint_url,
        "region_name": endpoint.region,
        "aws_access_key_id": "test",
        "aws_secret_access_key": "test",
    }


@cache  # a client takes longer to make than most of its requests to answer
def _client(service: str, endpoint: Endpoint) -> Any:
    return boto3.client(service, **_aws(endpoint))  # type: ignore[call-overload]


@cache
def _tables(endpoint: Endpoint) -> Any:
    return boto3.resource("dynamodb", **_aws(endpoint))  # type: ignore[call-overload]


def chosen_values(request: pytest.FixtureRequest, name: str) -> list[object]:
    """Return a parameter's values in the tests that were chosen, of the module that asks."""
    tests = [
        item
        for item in request.session.items
        if isinstance(item, pytest.Function) and item.module is request.module
    ]
    return list(dict.fromkeys(test.callspec.params[name] for test in tests))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
