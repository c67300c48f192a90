"""What only a newer version understands is left to it, and holds up nothing else."""

import contextlib
import json
from collections.abc import Iterator
from typing import Any

import pytest

from switchyard.adapters.dynamodb.definition_store import DynamoDbDefinitionStore
from switchyard.adapters.dynamodb.job_store import DynamoDbJobStore
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.trigger_store import DynamoDbTriggerStore
from switchyard.domain.errors import NewerVersion
from switchyard.domain.ids import JobRef
from switchyard.domain.jobs.job import decide_job_outcome
from switchyard.domain.jobs.overdue import Action, decide_job_step, decide_task_step
from switchyard.domain.states import JobState, TaskState
from switchyard.domain.tasks.cancellation import Leave, decide_cancel
from switchyard.domain.tasks.claim_refusals import NotYet, decide_claim
from switchyard.usecases.jobs.read_jobs import read_job
from tests.builders import NOW_MS, TENANT, a_definition, a_plan, a_task
from tests.compatibility.stage import Stage
from tests.compatibility.use_cases import named, submit
from tests.fakes.triggers import a_trigger
from tests.simulation.run import silence

ONE_TASK: dict[str, Any] = {"name": "one", "tasks": [{"taskId": "ok-a", "name": "scrape"}]}
OTHER = ONE_TASK | {"name": "other"}
NEWER = json.dumps({"schema": 2, "tenant": "acme", "wake": ["job-1"]})


@pytest.fixture
def stage() -> Iterator[Stage]:
    with silence(), contextlib.closing(Stage()) as stage:
        yield stage


def parked(stage: Stage) -> list[dict[str, Any]]:
    objects = stage.cloud.s3.objects
    return [json.loads(objects[key]) for key in objects if key.startswith("parked/")]


def test_a_message_of_a_newer_schema_is_given_back_and_not_parked_at_first_sight(
    stage: Stage,
) -> None:
    stage.cloud.tasks.put(NEWER)
    stage.pass_time(30)
    [message] = stage.cloud.tasks.messages.values()
    assert (message.body, message.receives, parked(stage)) == (NEWER, 1, [])
    assert message.visible_at > stage.world.now
    stage.pass_time(45)
    assert [m.receives for m in stage.cloud.tasks.messages.values()] == [2]


def test_a_newer_worker_finds_the_message_that_older_ones_gave_back(stage: Stage) -> None:
    """It is in the queue for as long as the queue lets it be received."""
    stage.cloud.tasks.put(NEWER)
    stage.pass_time(70)
    [message] = stage.cloud.tasks.messages.values()
    stage.cloud.tasks.delete(message.number, message.receipt)  # a newer worker has handled it
    stage.pass_time(300)
    assert parked(stage) == []


def test_a_newer_message_that_nobody_understands_is_parked_in_the_end(stage: Stage) -> None:
    stage.cloud.tasks.put(NEWER)
    submit(stage, ONE_TASK)
    stage.pass_time(600)
    [stored] = parked(stage)
    assert (stored["body"], stored["reason"]) == (
        NEWER,
        "schema 2 is of a newer version; this one reads up to 1",
    )
    assert not stage.cloud.dead_letters.messages
    assert set(stage.ends().values()) == {"COMPLETED"}
    assert not stage.bugs


def set_state(stage: Stage, job: JobRef, sort_key: str, state: str) -> None:
    table, dynamodb = stage.cloud.state, stage.cloud.dynamodb
    key = {"PK": {"S": f"TENANT#{job.tenant}#JOB#{job.job_id}"}, "SK": {"S": sort_key}}
    item = dynamodb.get_item(TableName=table, Key=key, ConsistentRead=True)["Item"]
    dynamodb.put_item(TableName=table, Item={**item, "state": {"S": state}})


def test_a_task_in_a_state_of_a_newer_version_is_run_by_nobody_and_holds_up_no_other(
    stage: Stage,
) -> None:
    stage.dispatcher.pause(4.0)
    submit(stage, ONE_TASK)
    stage.pass_time(3.5)
    job = named(stage, "one")
    set_state(stage, job, "TASK#ok-a", "REVIEWED")
    submit(stage, OTHER)
    stage.pass_time(2_000)
    assert stage.history.jobs[job].state is JobState.OPEN
    assert not [child for child in stage.children if child.ref.job == job]
    assert stage.history.jobs[named(stage, "other")].state is JobState.COMPLETED
    store = DynamoDbJobStore(DynamoDbTable(stage.cloud.dynamodb, stage.cloud.state))
    view = read_job(TENANT, job.job_id, jobs=store)
    assert (view.status, [task.status for task in view.tasks]) == ("processing", ["unknown"])
    assert not stage.bugs
    set_state(stage, job, "TASK#ok-a", "WAITING")  # the newer version goes on with it
    stage.pass_time(4_000)
    assert stage.history.jobs[job].state is JobState.COMPLETED


def test_a_job_in_a_state_of_a_newer_version_is_listed_beside_the_others(stage: Stage) -> None:
    submit(stage, ONE_TASK)
    submit(stage, OTHER)
    stage.pass_time(60)
    set_state(stage, named(stage, "one"), "JOB", "ARCHIVED")
    store = DynamoDbJobStore(DynamoDbTable(stage.cloud.dynamodb, stage.cloud.state))
    states = {job.name: job.status.value for job in store.page(TENANT, limit=9, cursor=None).jobs}
    assert states == {"one": "processing", "other": "completed"}


def test_an_unknown_state_is_neither_settled_nor_claimable_nor_cancelled() -> None:
    task = a_task(state=TaskState("REVIEWED"), attempt=9, cancel_requested=True, due_at_ms=1)
    assert task.state is TaskState.UNKNOWN
    assert not task.state.settled
    assert isinstance(decide_claim(task, now_ms=NOW_MS), NotYet)
    assert isinstance(decide_cancel(task), Leave)
    step = decide_task_step(task, now_ms=NOW_MS)
    assert (step.action, step.reason) == (Action.WAIT, "in a state of a newer version")
    assert step.due_at_ms is not None
    with pytest.raises(NewerVersion, match="state of a newer version"):
        decide_job_outcome({task.state})


def test_an_unknown_state_of_a_job_is_looked_at_again_later() -> None:
    assert not JobState("ARCHIVED").settled
    job = a_plan().job
    step = decide_job_step(
        type(job)(
            **{name: getattr(job, name) for name in job.__slots__}
            | {"state": JobState("ARCHIVED"), "due_at_ms": 1}
        ),
        now_ms=NOW_MS,
    )
    assert step.action is Action.WAIT
    assert step.due_at_ms is not None


def test_a_rule_of_a_newer_version_decides_nothing(stage: Stage) -> None:
    two = {"taskId": "ok-b", "name": "scrape", "dependsOn": ["ok-a"]}
    stage.dispatcher.pause(4.0)
    submit(stage, ONE_TASK | {"tasks": [*ONE_TASK["tasks"], two]})
    stage.pass_time(3.5)
    job = named(stage, "one")
    table, dynamodb = stage.cloud.state, stage.cloud.dynamodb
    key = {"PK": {"S": f"TENANT#{job.tenant}#JOB#{job.job_id}"}, "SK": {"S": "TASK#ok-b"}}
    item = dynamodb.get_item(TableName=table, Key=key, ConsistentRead=True)["Item"]
    dynamodb.put_item(TableName=table, Item={**item, "rule": {"S": "most_completed"}})
    stage.pass_time(300)
    assert stage.states_of(stage.history.jobs[job]) == {
        "ok-a": TaskState.COMPLETED,
        "ok-b": TaskState.UNKNOWN,
    }
    assert not stage.bugs
    item = dynamodb.get_item(TableName=table, Key=key, ConsistentRead=True)["Item"]
    assert "waiting_on" not in item
    dynamodb.put_item(TableName=table, Item={**item, "rule": {"S": "all_settled"}})
    stage.pass_time(1_500)  # as if the dispatcher were replaced by a newer one
    assert stage.history.jobs[job].state is JobState.COMPLETED


def test_a_definition_of_a_newer_version_hides_no_other_from_a_list(stage: Stage) -> None:
    table = DynamoDbTable(stage.cloud.dynamodb, stage.cloud.definitions)
    store = DynamoDbDefinitionStore(table)
    store.put(TENANT, "newer", a_definition())
    for item in stage.cloud.dynamodb.items(stage.cloud.definitions):
        if item["SK"]["S"].endswith(("#newer", "#newer#00000001")):
            document = json.loads(item["document"]["S"]) | {"backend": "quantum"}
            changed = {**item, "document": {"S": json.dumps(document)}}
            stage.cloud.dynamodb.put_item(TableName=stage.cloud.definitions, Item=changed)
    assert [definition.name for definition in store.all(TENANT)] == ["scrape"]
    with pytest.raises(NewerVersion, match="'newer' is of a newer version"):
        store.latest(TENANT, ["newer"])


def test_a_trigger_of_a_newer_version_is_not_taken_for_a_removed_one(stage: Stage) -> None:
    store = DynamoDbTriggerStore(DynamoDbTable(stage.cloud.dynamodb, stage.cloud.state))
    store.put(TENANT, a_trigger(), now_ms=NOW_MS)
    [item] = [i for i in stage.cloud.dynamodb.items(stage.cloud.state) if "document" in i]
    document = json.loads(item["document"]["S"]) | {"schemaVersion": 2}
    changed = {**item, "document": {"S": json.dumps(document)}}
    stage.cloud.dynamodb.put_item(TableName=stage.cloud.state, Item=changed)
    with pytest.raises(NewerVersion, match="'uploads' is of a newer version"):
        store.find(TENANT, "uploads")
