"""What a worker does to the state table is allowed by its role, and what it has no use for is not.

IAM is not enforced locally: the conditions of the synthesized policy are compared with the requests
that the worker's own adapters make.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any

import pytest
from moto import mock_aws

from switchyard.adapters import aws
from switchyard.adapters.dynamodb.items import task_item
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.presence import DynamoDbPauseSwitch, DynamoDbPresence
from switchyard.adapters.dynamodb.scheduling.start_limits import DynamoDbStartLimits
from switchyard.adapters.dynamodb.scheduling.tenant_clocks import DynamoDbTenantClocks
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.task_additions import DynamoDbTaskAdoption
from switchyard.adapters.dynamodb.task_leases import DynamoDbTaskLeases
from switchyard.adapters.parallel import OneByOne
from switchyard.domain.health.presence import PresentWorker
from switchyard.domain.ids import TaskRef, bare_task
from switchyard.domain.jobs.adoption import Adoption, adopted_task
from switchyard.domain.jobs.plan import Pinned
from switchyard.domain.scheduling.limits import LimitRef
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Lease, LifeSigns, Outcome, Payload
from switchyard.ports import Claimed
from switchyard.testing.transport import MemoryBlobStore
from tests.builders import NOW_MS, a_task
from tests.e2e.recorder.sitecustomize import condition_keys_of, requests_in
from tests.fakes.tables import REGION, state_table
from tests.stacks.synthesized import SynthesizedStage
from tests.stacks.test_permissions import listed, statements_of

LIMIT = "q:review:5"
JOB = "TENANT#acme#JOB#job-1"


@dataclass(frozen=True)
class Request:
    action: str
    keys: list[str]
    attributes: list[str]

    def is_allowed_by(self, statement: Any) -> bool:
        conditions = statement["Condition"]
        patterns = conditions["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]
        named = conditions.get("ForAllValues:StringEquals", {}).get("dynamodb:Attributes")
        return (
            self.action in listed(statement["Action"])
            and all(any(fnmatchcase(key, p) for p in listed(patterns)) for key in self.keys)
            and (named is None or set(self.attributes) <= set(named))
        )


@dataclass
class RecordingClient:
    client: Any
    requests: list[Request] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        operation = "".join(map(str.capitalize, name.split("_")))

        def recorded(**params: Any) -> Any:
            for action, _, request in requests_in(operation, params):
                known = condition_keys_of(request)
                keys, attributes = known["dynamodb:LeadingKeys"], known["dynamodb:Attributes"]
                self.requests.append(Request(f"dynamodb:{action}", keys, attributes))
            return getattr(self.client, name)(**params)

        return recorded


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[RecordingClient]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    with mock_aws():
        dynamodb = aws.client("dynamodb", region_name=REGION)
        state_table(dynamodb)
        yield RecordingClient(dynamodb)


def of_state(synthesized: SynthesizedStage) -> list[Any]:
    return [
        statement
        for statement in statements_of(synthesized, "worker")
        if "Condition" in statement and "LeadingKeys" in str(statement["Condition"])
    ]


def is_allowed(synthesized: SynthesizedStage, request: Request) -> bool:
    return any(request.is_allowed_by(statement) for statement in of_state(synthesized))


def work(client: RecordingClient, tenant: str) -> None:
    """Do everything that a worker does to the state table."""
    table = DynamoDbTable(client, "state-test", parallel=OneByOne())
    payloads = DynamoDbPayloads(table, MemoryBlobStore())
    leases = DynamoDbTaskLeases(table)
    task = a_task(state=TaskState.QUEUED, max_attempts=9)
    seed = DynamoDbTable(client.client, "state-test")
    seed.put_new(task_item(task))
    seed.put_new(DynamoDbPayloads(seed, MemoryBlobStore()).new_item(task.ref, Payload(input=1)))
    payloads.read(task.ref)
    payloads.outputs(task.ref.job, [task.ref.task_id])
    run_a_task(leases, task.ref)
    limited = replace(task, ref=task.ref.job.task("limited"), limits=(LIMIT,))
    seed.put_new(task_item(limited))
    seed.put_new(DynamoDbPayloads(seed, MemoryBlobStore()).new_item(limited.ref, Payload(input=1)))
    run_a_task(leases, limited.ref)
    choose(table)
    for request_id in ("one", "two"):
        ref = bare_task(tenant, request_id)
        adopted = adopted_task(ref, definition="do", pinned=Pinned(1), now_ms=NOW_MS)
        assert DynamoDbTaskAdoption(table, payloads).adopt(Adoption(adopted, {"a": 1}, {"b": 2}))
        fail_a_task(leases, ref, give_up=request_id == "two")
    presence = DynamoDbPresence(table)
    presence.seen(
        PresentWorker(worker_id="w", started_at_ms=1, seen_at_ms=2, slots=1, busy=0, version="1")
    )
    presence.left("w", now_ms=3)
    DynamoDbPauseSwitch(table).paused()


def choose(table: DynamoDbTable) -> None:
    """Do what a worker does beside claims: to choose a task, to charge for it, to let others in."""
    clocks, limits = DynamoDbTenantClocks(table), DynamoDbStartLimits(table)
    clocks.mark("default", "acme", now_ms=NOW_MS)
    clocks.of_group("default")
    clocks.charge("default", {"acme": 1.0})
    clocks.raise_floor("default", 1.0)
    clocks.note_cost("default", 1.0, 1)
    limits.free(LimitRef("acme", LIMIT), now_ms=NOW_MS)
    limits.let_in(LimitRef("acme", LIMIT), now_ms=NOW_MS)


def run_a_task(leases: DynamoDbTaskLeases, ref: TaskRef) -> None:
    lease = claimed(leases, ref)
    signs = LifeSigns(beat_at_ms=NOW_MS, activity="a", activity_at_ms=NOW_MS, repeats=1)
    leases.renew(lease, lease_until_ms=NOW_MS + 2_000, signs=signs)
    for give_back in (True, False):
        leases.release(
            lease,
            not_before_ms=NOW_MS,
            now_ms=NOW_MS,
            give_attempt_back=give_back,
            error="late",
            queue="architects",
        )
        lease = claimed(leases, ref)
    leases.settle(lease, Outcome(state=TaskState.COMPLETED), output={"a": 1}, now_ms=NOW_MS)


def fail_a_task(leases: DynamoDbTaskLeases, ref: TaskRef, *, give_up: bool) -> None:
    lease, failed = claimed(leases, ref), Outcome(state=TaskState.FAILED)
    if give_up:
        leases.give_up(lease.task, failed, now_ms=NOW_MS + 60_000)
    else:
        leases.settle(lease, failed, output=None, now_ms=NOW_MS)


def claimed(leases: DynamoDbTaskLeases, ref: TaskRef) -> Lease:
    answer = leases.claim(ref, owner="w", now_ms=NOW_MS, lease_ms=1_000)
    assert isinstance(answer, Claimed)
    return answer.lease


def test_all_that_a_worker_does_to_the_state_table_is_allowed(
    synthesized: SynthesizedStage, client: RecordingClient
) -> None:
    work(client, synthesized.stage.adopting_tenant)

    assert len(client.requests) > 15
    refused = [request for request in client.requests if not is_allowed(synthesized, request)]
    assert refused == []


def test_every_attribute_that_a_worker_may_name_is_one_that_it_names(
    synthesized: SynthesizedStage, client: RecordingClient
) -> None:
    work(client, synthesized.stage.adopting_tenant)

    named = {
        attribute
        for request in client.requests
        if request.action == "dynamodb:UpdateItem" and "#JOB#job-" in request.keys[0]
        for attribute in request.attributes
    }
    (allowed,) = (
        set(statement["Condition"]["ForAllValues:StringEquals"]["dynamodb:Attributes"])
        for statement in of_state(synthesized)
        if "ForAllValues:StringEquals" in statement["Condition"]
    )
    assert allowed - named <= {"output_key"}  # of an output that is too large for an item


OF_NO_USE = {
    "a job's name": Request("dynamodb:UpdateItem", [JOB], ["PK", "SK", "name"]),
    "whom a job notifies": Request("dynamodb:UpdateItem", [JOB], ["PK", "SK", "notify"]),
    "another definition": Request("dynamodb:UpdateItem", [JOB], ["PK", "SK", "definition"]),
    "another input": Request("dynamodb:UpdateItem", [JOB], ["PK", "SK", "input"]),
    "another's cap": Request("dynamodb:UpdateItem", [JOB], ["PK", "SK", "overrides"]),
    "edges": Request("dynamodb:UpdateItem", [JOB], ["PK", "SK", "tasks"]),
    "a bare task of another tenant": Request(
        "dynamodb:UpdateItem", ["TENANT#acme#JOB#~order"], ["PK", "SK", "definition"]
    ),
    "an API key": Request("dynamodb:UpdateItem", ["TENANT#acme#APIKEYS"], ["PK", "SK"]),
    "a tenant's settings": Request("dynamodb:UpdateItem", ["TENANT#acme#SETTINGS"], ["PK", "SK"]),
    "a trigger": Request("dynamodb:UpdateItem", ["TENANT#acme#TRIGGERS"], ["PK", "SK"]),
    "an idempotency key": Request("dynamodb:UpdateItem", ["TENANT#acme#KEY#k"], ["PK", "SK"]),
    "a pause": Request("dynamodb:UpdateItem", ["STAGE#CONSUMPTION"], ["PK", "SK", "paused_at_ms"]),
    "alerts": Request("dynamodb:UpdateItem", ["ALERTS"], ["PK", "SK"]),
    "reading triggers": Request("dynamodb:GetItem", ["TENANT#acme#TRIGGERS"], ["PK", "SK"]),
    "reading among jobs": Request(
        "dynamodb:BatchGetItem", [JOB, "TENANT#acme#TRIGGERS"], ["PK", "SK"]
    ),
    "a whole item": Request("dynamodb:PutItem", [JOB], ["PK", "SK"]),
    "deleting": Request("dynamodb:DeleteItem", [JOB], ["PK", "SK"]),
}


@pytest.mark.parametrize("request_", OF_NO_USE.values(), ids=OF_NO_USE)
def test_a_worker_may_not_do_what_it_has_no_use_for(
    synthesized: SynthesizedStage, request_: Request
) -> None:
    assert not is_allowed(synthesized, request_)


def test_nothing_else_allows_a_worker_anything_on_the_state_table(
    synthesized: SynthesizedStage,
) -> None:
    table = synthesized.one("AWS::DynamoDB::Table", TableName=synthesized.stage.data_name("state"))
    unconditional = [
        statement
        for statement in statements_of(synthesized, "worker")
        if "Condition" not in statement
        for resource in listed(statement["Resource"])
        if "Fn::ImportValue" in resource and synthesized.imported(resource) == table
    ]
    assert unconditional == []
