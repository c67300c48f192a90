"""Messages that can never be handled: parked whole, with the reason, and not received again."""

import json
from datetime import datetime
from typing import Any

import pytest

from switchyard.contracts.messages import MAX_BODY_BYTES, MessageAttribute, TaskMessage
from switchyard.domain.errors import Unavailable
from switchyard.domain.ids import START
from switchyard.domain.states import TaskState
from switchyard.ports import Received
from tests.builders import JOB, JOB_ID, TENANT, a_definition
from tests.worker.harness import WorkerHarness


def ours(**changed: Any) -> str:
    message = TaskMessage.to(JOB.task("a"), run=1).model_dump(by_alias=True)
    return json.dumps(message | changed)


def foreign(**changed: Any) -> str:
    return json.dumps({"requestId": "order-1", "name": "scrape"} | changed)


DEEP = "[" * 100_000 + "]" * 100_000
POISON = {
    "not JSON": ("no JSON", "body: expected"),
    "nothing": ("", "body: EOF"),
    "not an object": ("[1]", "body: is not a JSON object"),
    "wrong shape": ("{}", "name: Field required"),
    "deep nesting": (f'{{"name": "scrape", "input": {DEEP}}}', "body: recursion limit"),
    "nesting below the parser's limit": (
        foreign(input=json.loads("[" * 65 + "]" * 65)),
        "input: Value error, is nested more than 64 levels deep",
    ),
    "control characters": ('{"name": "scr\x01ape"}', "body: control character"),
    "an escaped newline in the name": (foreign(name="scrape\n"), "name: Value error"),
    "no id": (foreign(requestId=None), "requestId: missing"),
    "a long id": (foreign(requestId="x" * 257), "is not a request id"),
    "a path as id": (foreign(requestId="../order-1"), "'../order-1' is not a request id"),
    "an id with a newline": (foreign(requestId="order-1\n"), r"'order-1\n' is not a request id"),
    "an id of a job": (foreign(requestId=JOB_ID), "ids of jobs begin with `job-`"),
    "an id that separates": (foreign(requestId="a__b"), "`__` separates a job from its task"),
    "a job of nobody": (
        foreign(requestId=f"{JOB_ID}__a", jobId=JOB_ID, taskId="a"),
        f"there is no task {JOB_ID}__a",
    ),
    "a job, and an id of something else": (foreign(jobId=JOB_ID, taskId="a"), "names a job"),
    "an unknown task": (ours(), f"there is no task {JOB_ID}__a"),
    "a hidden task": (
        ours(taskId=START, requestId=f"{JOB_ID}__{START}"),
        f"there is no task {JOB_ID}__{START}",
    ),
    "no schema of any version": (ours(schema="two"), "schema: "),
    "an id with a newline, in ours": (ours(taskId="a\n", requestId=f"{JOB_ID}__a\n"), "body: "),
    "a tenant with a newline": (ours(tenantId="acme\n"), "body: Value error, tenantId"),
    "an id of another task": (ours(requestId=f"{JOB_ID}__b"), "requestId does not name this"),
    "an unknown definition": (foreign(name="unheard-of"), "no task definition 'unheard-of'"),
    "outputs under no task's name": (foreign(dependencyOutputs={"a b": 1}), "not a task id"),
    "a number that JSON does not have": ('{"name": "scrape", "input": NaN}', "input: "),
    "a number beyond all numbers": (f'{{"input": {"1" * 5000}}}', "body: number out of range"),
    "too large": (foreign(input="x" * MAX_BODY_BYTES), "at most 1,048,576 are read"),
}


def parked(harness: WorkerHarness) -> list[dict[str, Any]]:
    blobs = harness.memory.blobs.blobs
    stored = {key: json.loads(blobs[key]) for key in blobs if key.startswith("parked/")}
    assert all(key.endswith(f"/{message['id']}.json") for key, message in stored.items())
    return list(stored.values())


@pytest.fixture
def harness(harness: WorkerHarness) -> WorkerHarness:
    harness.memory.definitions.put(TENANT, "scrape", a_definition())
    return harness


@pytest.mark.parametrize(("body", "reason"), POISON.values(), ids=POISON.keys())
def test_poison_is_parked_whole_with_its_reason_and_deleted(
    harness: WorkerHarness, body: str, reason: str
) -> None:
    attributes = {"colour": MessageAttribute(data_type="String", string_value="blue")}
    harness.memory.queue.send_body(body, attributes=attributes)

    harness.work(until=lambda: harness.memory.queue.waiting == 0)

    (stored,) = parked(harness)
    assert stored["body"] == body
    assert reason in stored["reason"]
    assert stored["queue"] == "tasks"
    assert stored["messageAttributes"]["colour"]["stringValue"] == "blue"
    assert datetime.fromisoformat(stored["sentAt"]) <= datetime.fromisoformat(stored["parkedAt"])
    assert harness.emitted == []
    assert harness.memory.state.tasks == {}


def test_a_wake_up_with_a_field_of_a_newer_version_wakes_its_task(harness: WorkerHarness) -> None:
    harness.add_task("a")
    queue = harness.memory.queue
    queue.delete(*queue.receive(at_most=1, wait_seconds=0, visibility_seconds=1))
    harness.memory.queue.send_body(ours(priority="high"))

    harness.work(until=harness.quiet)

    assert harness.task("a").state is TaskState.COMPLETED
    assert parked(harness) == []


def test_a_wake_up_of_a_newer_schema_is_left_to_a_newer_worker(
    harness: WorkerHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue, hidden_for = harness.memory.queue, list[int]()
    extend = queue.extend

    def extended(message: Received, *, seconds: int) -> None:
        extend(message, seconds=seconds)
        hidden_for.append(seconds)

    monkeypatch.setattr(queue, "extend", extended)
    queue.send_body(ours(schema=2))

    harness.work(until=lambda: bool(hidden_for))

    assert hidden_for == [60]
    assert queue.waiting == 1
    assert parked(harness) == []


def test_every_kind_of_poison_among_good_messages_harms_none_of_them(
    harness: WorkerHarness,
) -> None:
    good = [f"good-{n}" for n in range(5)]
    for number, (body, _) in enumerate(POISON.values()):
        harness.memory.queue.send_body(body)
        if number < len(good):
            harness.add_task(good[number])

    harness.work(until=harness.quiet, seconds=60)

    assert sorted(stored["body"] for stored in parked(harness)) == sorted(
        b for b, _ in POISON.values()
    )
    for task_id in good:
        task = harness.task(task_id)
        assert (task.state, task.attempt, task.fence) == (TaskState.COMPLETED, 1, 1)
    assert harness.emitted.count("Task Completed") == len(good)


def test_poison_stays_in_the_queue_while_the_bucket_is_out_of_reach(
    harness: WorkerHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    put = harness.memory.blobs.put
    refused: list[int] = []

    def refuse_first(key: str, body: bytes, *, content_type: str) -> None:
        if not refused:
            refused.append(harness.memory.queue.waiting)
            raise Unavailable("the bucket does not answer")
        put(key, body, content_type=content_type)

    monkeypatch.setattr(harness.memory.blobs, "put", refuse_first)
    harness.memory.queue.send_body("no JSON")

    harness.work(until=lambda: harness.memory.queue.waiting == 0)

    assert refused == [1]
    assert len(parked(harness)) == 1


def test_the_reason_steers_nobodys_terminal(harness: WorkerHarness) -> None:
    harness.memory.queue.send_body(foreign(requestId="\x1b[31m\n" + "x" * 500))

    harness.work(until=lambda: harness.memory.queue.waiting == 0)

    (stored,) = parked(harness)
    assert stored["reason"].isprintable()
    assert len(stored["reason"]) <= 300
