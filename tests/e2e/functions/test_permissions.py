"""IAM is not enforced locally, so what was called is compared with what was granted.

`everything_ran` makes every kind of call: data through items and through the bucket, a retry, a
renewal, a failure, what the sweeper finds and what nobody could handle. Policies are read back from
the deployed roles: references resolved, exactly what the stacks synthesized.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import pytest

from switchyard.bootstrap.operators import stage_triggers
from switchyard.contracts.messages import TaskMessage
from switchyard.contracts.triggers import BusEvent, Trigger
from switchyard.domain.ids import JobRef
from tests.e2e.conftest import RunningCloud
from tests.e2e.documents import DEFINITION, a_job, scripted
from tests.e2e.failures.foreign_messages import parked_messages, send, send_foreign, settled
from tests.e2e.functions.api_requests import all_kinds_of_requests
from tests.e2e.functions.queues_in_use import all_kinds_of_queues
from tests.e2e.functions.signal_events import end_a_signal_by_an_event
from tests.e2e.functions.unused_grants import UNUSED_BUT_NEEDED
from tests.e2e.patience import eventually

JOB_ID = "job-00000000-0000-4000-8000-000000000001"
TRIGGER = {
    "name": "never",
    "on": {"bus": "switchyard", "pattern": {"detail": {"eventType": ["Nothing"]}}},
    "job": {"name": "never", "tasks": [{"taskId": "do", "name": "do"}]},
}


@dataclass(frozen=True)
class Call:
    action: str
    resource: str
    condition_keys: tuple[tuple[str, tuple[str, ...]], ...]
    """What DynamoDB tells IAM of an access to items: partitions and attributes."""


@dataclass(frozen=True)
class Grant:
    action: str
    resource: str
    conditions: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """The patterns for a condition key's values; every value must match one of them."""

    @property
    def names(self) -> set[str]:
        """What an explanation may call it: its action, or its action on a resource."""
        last = self.resource.rsplit(":", 1)[-1]
        return {self.action, *(f"{self.action} on {name}" for name in (last, self._keys))}

    @property
    def _keys(self) -> str:
        """The keys of a bucket, or the name of a table."""
        return self.resource.partition("/")[2]

    def covers(self, call: Call) -> bool:
        suffix = self.resource.rsplit(":", 1)[-1]
        known = dict(call.condition_keys)
        return (
            fnmatchcase(call.action, self.action)
            and fnmatchcase(call.resource, suffix)
            and all(
                any(fnmatchcase(value, pattern) for pattern in patterns)
                for key, patterns in self.conditions
                for value in known.get(key, ())
            )
        )


def functions(cloud: RunningCloud) -> dict[str, str]:
    listed = cloud.client("lambda").list_functions()["Functions"]
    return {f["FunctionName"]: f["Role"] for f in listed if "switchyard" in f["FunctionName"]}


def roles(cloud: RunningCloud) -> dict[str, str]:
    return functions(cloud) | {"worker": worker_role(cloud, "WorkerTaskDefinition")}


def worker_role(cloud: RunningCloud, output: str) -> str:
    definition = cloud.client("ecs").describe_task_definition(
        taskDefinition=cloud.output("consumer", output)
    )["taskDefinition"]
    return str(definition["taskRoleArn"])


def grants(cloud: RunningCloud, role_arn: str) -> Iterator[Grant]:
    iam, role = cloud.client("iam"), role_arn.rsplit("/", 1)[-1]
    assert iam.list_attached_role_policies(RoleName=role)["AttachedPolicies"] == []
    for name in iam.list_role_policies(RoleName=role)["PolicyNames"]:
        document = iam.get_role_policy(RoleName=role, PolicyName=name)["PolicyDocument"]
        for statement in filter(allows, document["Statement"]):
            for action in as_list(statement["Action"]):
                for resource in as_list(statement["Resource"]):
                    yield Grant(action, resource, conditions_of(statement))


def conditions_of(statement: Any) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple(
        (key, tuple(as_list(patterns)))
        for operator, keys in statement.get("Condition", {}).items()
        if operator.startswith("ForAllValues:")
        for key, patterns in keys.items()
    )


def allows(statement: Any) -> bool:
    return bool(statement["Effect"] == "Allow")


def as_list(value: Any) -> list[str]:
    return value if isinstance(value, list) else [value]


def recorded(cloud: RunningCloud) -> dict[str, set[Call]]:
    calls: dict[str, set[Call]] = {}
    for line in cloud.calls.read_text().splitlines():
        principal, action, resource, known = json.loads(line)
        condition_keys = tuple((key, tuple(values)) for key, values in known.items())
        calls.setdefault(principal, set()).add(Call(action, resource, condition_keys))
    return calls


def hand_over(cloud: RunningCloud, queue: str, *bodies: str, to: str) -> None:
    """Invoke a function with messages, as the event source mapping of a queue does."""
    records = [
        {
            "messageId": f"by-hand-{number}",
            "eventSource": "aws:sqs",
            "eventSourceARN": f"arn:aws:sqs:us-east-1:000000000000:switchyard-local-{queue}",
            "attributes": {"SentTimestamp": "0", "ApproximateFirstReceiveTimestamp": "0"},
            "messageAttributes": {},
            "body": body,
        }
        for number, body in enumerate(bodies)
    ]
    answer = cloud.client("lambda").invoke(
        FunctionName=f"switchyard-local-{to}", Payload=json.dumps({"Records": records})
    )
    assert json.load(answer["Payload"]) == {"batchItemFailures": []}


def all_kinds_of_dead_letters(cloud: RunningCloud, job_id: str) -> None:
    """Deliver one of a completed task, one that is no message, and one of another producer."""
    wake_up = TaskMessage.to(JobRef("local", job_id).task("large"), run=1)
    foreign = {"name": "do", "requestId": "late-order", "input": "z" * 20_000}
    hand_over(
        cloud,
        "task-queue-dlq",
        wake_up.model_dump_json(by_alias=True),
        "poison",
        json.dumps(foreign),
        to="process-dead-letters",
    )
    assert settled(cloud, "late-order")["state"] == "COMPLETED"


def all_kinds_of_messages(cloud: RunningCloud) -> None:
    poison = send(cloud, "poison")
    send_foreign(cloud, "order-1", input="z" * 20_000)
    assert settled(cloud, "order-1")["state"] == "COMPLETED"
    letters = parked_messages(cloud)
    eventually(
        lambda: poison in [stored.id for stored in letters.newest(1000)] or None, "not parked"
    )


def all_kinds_of_changes(cloud: RunningCloud) -> None:
    job_id = cloud.submit(a_job({"taskId": "slow", **scripted(delayMs=120_000)}))
    added = {"tasks": [{"taskId": "more", "name": "do", "dependsOn": ["slow"]}]}
    with cloud.http as http:
        http.post(f"/jobs/{job_id}/tasks", json=added).raise_for_status()
        http.post(f"/jobs/{job_id}/cancel").raise_for_status()
    assert cloud.settled(job_id).status == "cancelled"


def all_kinds_of_triggers(cloud: RunningCloud) -> None:
    """Fire a trigger that starts a job, and send its function what no rule sends."""
    with stage_triggers("local", **cloud.aws) as operator:
        operator.apply("local", Trigger.model_validate(TRIGGER))
        event = {"id": "e-1", "time": "now", "detail": {"tenantId": "local", "entityId": JOB_ID}}
        envelope = BusEvent.model_validate(event)
        operator.fire("local", "never", event=envelope, text=json.dumps(event))
        eventually(lambda: operator.find("local", "never").last_run, "the trigger has not run")
        operator.remove("local", "never")
    with cloud.http as http:
        content = {"schedule": "cron(0 0 1 1 ? *)", "job": TRIGGER["job"]}
        http.put("/triggers/yearly", json=content).raise_for_status()
        http.post("/triggers/yearly/fire", json={}).raise_for_status()
        content = {"on": TRIGGER["on"], "job": TRIGGER["job"]}
        http.put("/triggers/on-event", json=content).raise_for_status()
        for name in ("yearly", "on-event"):
            http.delete(f"/triggers/{name}").raise_for_status()
    hand_over(cloud, "trigger-queue", "poison", to="start-triggered")


def all_kinds_of_subjects(cloud: RunningCloud, failed_job: str) -> None:
    subjects = (
        f"job/local/{failed_job}",
        "letters/quarantine",
        "letters/switchyard-local-task-queue",
        "letters/switchyard-local-event-queue-dlq",
        "task/local/order-4711",
        "alarm/switchyard-local-event-not-saved-unread",
    )
    bodies = [json.dumps({"subject": subject}) for subject in subjects]
    hand_over(cloud, "alerts-queue", *bodies, to="notify")


def a_job_with_every_outcome() -> dict[str, Any]:
    flaky = scripted(fail={"category": "network", "message": "reset", "times": 1})
    broken = scripted(fail={"category": "validation", "message": "no"})
    document = a_job(
        {"taskId": "flaky", **flaky},
        {"taskId": "broken", **broken},
        {"taskId": "skipped", "dependsOn": ["broken"]},
        {"taskId": "slow", **scripted(delayMs=1500)},
        {"taskId": "fed", "input": {"text": "y" * 20_000}},
        {"taskId": "large", "name": "large"},
        {"taskId": "after", "dependsOn": ["large"], "files": ["large/task-result.json"]},
    )
    large = {"text": {"const": "x" * 20_000}}
    schema = {"type": "object", "properties": large, "required": ["text"]}
    document["definitions"]["large"] = DEFINITION | {"outputSchema": schema}
    return document


def all_schedules(cloud: RunningCloud, job_id: str) -> None:
    cloud.make_overdue(job_id, "large")
    cloud.make_overdue(job_id, "broken")
    cloud.sweep()
    for scheduled in ("measure", "check-health"):
        function = f"switchyard-local-{scheduled}"
        answer = cloud.client("lambda").invoke(FunctionName=function, Payload=b"{}")
        assert "FunctionError" not in answer


@pytest.fixture(scope="module")
def everything_ran(cloud: RunningCloud) -> None:
    job_id = cloud.submit(a_job_with_every_outcome())
    assert cloud.settled(job_id).status == "failed"
    assert cloud.task(job_id, "large").output == {"text": "x" * 20_000}
    all_schedules(cloud, job_id)
    hand_over(cloud, "event-queue-dlq", "not an event", to="alert")
    all_kinds_of_messages(cloud)
    all_kinds_of_dead_letters(cloud, job_id)
    all_kinds_of_changes(cloud)
    all_kinds_of_triggers(cloud)
    end_a_signal_by_an_event(cloud)
    all_kinds_of_subjects(cloud, job_id)
    all_kinds_of_requests(cloud, job_id)
    all_kinds_of_queues(cloud)


@pytest.mark.usefixtures("brand_job", "swept_job", "everything_ran")
def test_every_call_was_granted(cloud: RunningCloud) -> None:
    made = recorded(cloud)
    drones = {"worker-drones": worker_role(cloud, "WorkerTaskDefinitiondrones")}
    for principal, role in (roles(cloud) | drones).items():
        granted = list(grants(cloud, role))
        assert made.get(principal), f"{principal} made no call at all"
        missing = [
            call for call in made[principal] if not any(grant.covers(call) for grant in granted)
        ]
        assert missing == [], f"{principal} may not do this on AWS"


@pytest.mark.usefixtures("brand_job", "swept_job", "everything_ran")
def test_every_grant_was_used_or_is_explained(cloud: RunningCloud) -> None:
    made = recorded(cloud)
    for principal, role in roles(cloud).items():
        unused = {
            f"{grant.action} on {re.sub(r'^.*:', '', grant.resource)}"
            for grant in grants(cloud, role)
            if not grant.names & UNUSED_BUT_NEEDED[principal].keys()
            and not any(grant.covers(call) for call in made[principal])
        }
        assert unused == set(), f"{principal} was granted what it never used"
