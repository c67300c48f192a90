"""Other producers' tasks, poison and dead letters, on the deployed stacks."""

import json

from switchyard.bootstrap import stage_parked_messages
from switchyard.contracts.messages import TaskMessage
from switchyard.contracts.parked_messages import ParkedMessage
from switchyard.domain.ids import JobRef
from switchyard.usecases.dead_letters.parked_messages import ParkedMessages
from tests.e2e.conftest import RunningCloud
from tests.e2e.documents import a_job
from tests.e2e.failures.foreign_messages import define, send, send_foreign, settled
from tests.e2e.patience import eventually


def readable(letters: ParkedMessages) -> list[ParkedMessage]:
    return [kept for kept in letters.newest(1000) if isinstance(kept, ParkedMessage)]


def parked_message(cloud: RunningCloud, message_id: str) -> ParkedMessage:
    def look() -> ParkedMessage | None:
        with stage_parked_messages("local", **cloud.endpoint.connection) as letters:
            found = [kept for kept in readable(letters) if kept.id == message_id]
            return found[0] if found else None

    return eventually(look, f"{message_id} is not parked")


def drained(cloud: RunningCloud) -> bool | None:
    sqs = cloud.client("sqs")
    url = sqs.get_queue_url(QueueName="switchyard-local-task-queue-dlq")["QueueUrl"]
    return cloud.messages(url) == (0, 0) or None


def test_another_producers_task_is_adopted_and_done(cloud: RunningCloud) -> None:
    define(cloud, "do")
    large = {"offline": {"delayMs": 0}, "text": "x" * 20_000}
    send_foreign(cloud, "order-e2e", input=large, dependencyOutputs={"earlier": {"pages": 42}})
    item = settled(cloud, "order-e2e")
    assert (item["state"], item["attempt"], item["definition"]) == ("COMPLETED", 1, "do")


def test_poison_is_parked_and_goes_back_when_a_person_says_so(cloud: RunningCloud) -> None:
    first = parked_message(cloud, send(cloud, "no JSON", colour="blue"))
    assert (first.body, first.queue) == ("no JSON", "switchyard-local-task-queue")
    assert first.message_attributes["colour"].string_value == "blue"
    with stage_parked_messages("local", **cloud.endpoint.connection) as letters:
        letters.redrive(first)
        assert first.id not in [kept.id for kept in readable(letters)]

    def came_back() -> ParkedMessage | None:
        with stage_parked_messages("local", **cloud.endpoint.connection) as letters:
            again = [kept for kept in readable(letters) if "colour" in kept.message_attributes]
            return again[0] if again else None

    second = eventually(came_back, "it did not come back")
    assert second.body == first.body
    with stage_parked_messages("local", **cloud.endpoint.connection) as letters:
        letters.discard(second)


def test_a_task_that_waited_for_its_definition_is_done_once_it_is_sent_again(
    cloud: RunningCloud,
) -> None:
    kept = parked_message(cloud, send_foreign(cloud, "early-bird", name="not-yet-defined"))
    assert "not-yet-defined" in kept.reason
    define(cloud, "not-yet-defined")
    with stage_parked_messages("local", **cloud.endpoint.connection) as letters:
        letters.redrive(letters.find(kept.id))
    assert settled(cloud, "early-bird")["state"] == "COMPLETED"


def test_a_dead_letter_of_a_done_task_runs_nothing_and_one_of_nobodys_is_parked(
    cloud: RunningCloud,
) -> None:
    job_id = cloud.submit(a_job({"taskId": "a"}))
    assert cloud.settled(job_id).status == "completed"
    before = cloud.control_item(job_id, "a")
    for task_id in ("a", "nobodys"):
        wake_up = TaskMessage.to(JobRef("local", job_id).task(task_id), run=1)
        last = send(cloud, wake_up.model_dump_json(by_alias=True), queue="task-queue-dlq")
    kept = parked_message(cloud, last)
    assert json.loads(kept.body)["taskId"] == "nobodys"
    eventually(lambda: drained(cloud), "there are dead letters left")
    assert cloud.control_item(job_id, "a")["attempt"] == before["attempt"]
