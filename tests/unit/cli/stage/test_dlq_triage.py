"""`dlq` by cause, and a canary before the rest."""

import json
from dataclasses import replace

import pytest

from switchyard.contracts.messages import TaskMessage
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Outcome
from tests.builders import a_task
from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.parked_messages import FakeParkedMessages

QUEUE = "switchyard-local-task-queue"
TASK = a_task("scrape")
MESSAGE = TaskMessage.to(TASK.ref, run=1).model_dump_json(by_alias=True)
SAVED = {
    "eventType": "Task Completed",
    "entityId": TASK.ref.request_id,
    "tenantId": TASK.ref.tenant,
}


def codes(switchyard: Switchyard) -> list[str]:
    return [found["code"] for found in json.loads(switchyard("dlq", "--json").stdout)]


def test_parked_messages_are_counted_by_cause_the_commonest_first(
    switchyard: Switchyard, parked: FakeParkedMessages
) -> None:
    parked.park("a", reason="name: 'order-1' is not defined")
    parked.park("b", reason="name: 'order-2' is not defined", minutes=2)
    parked.park("c", reason="body: not JSON")
    parked.blobs.put("parked/tasks/2027-01-15/x.json", b"{}", content_type="j")

    shown = switchyard("dlq")
    found = json.loads(switchyard("dlq", "--json").stdout)

    assert [(one["count"], one["cause"]) for one in found] == [
        (2, "name: … is not defined"),
        (1, "cannot be read"),
        (1, "body: not JSON"),
    ]
    assert found[0]["example"] == "b"
    assert shown.exit_code == 0
    for reported in (found[0]["code"], QUEUE, "2 min", "name: … is not defined"):
        assert reported in shown.stdout


def test_no_parked_messages_are_said_to_be_none(switchyard: Switchyard) -> None:
    assert switchyard("dlq").stdout == "No messages are parked.\n"


def test_its_help_says_what_it_does_alone(switchyard: Switchyard) -> None:
    assert "parked messages by cause" in switchyard("dlq", "--help").stdout


def test_all_of_one_cause_are_sent_and_no_other(
    switchyard: Switchyard, parked: FakeParkedMessages
) -> None:
    parked.park("a", body="1", reason="line 1")
    parked.park("b", body="2", reason="line 2")
    parked.park("c", body="3", reason="another")
    code = codes(switchyard)[0]

    result = switchyard("dlq", "redrive", "--cause", code)

    assert result.stdout == "2 messages sent again.\n"
    assert sorted(body for body, _ in parked.sent(QUEUE)) == ["1", "2"]


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        ((), "Say which"),
        (("a", "--cause", "abcdef"), "Say which"),
        (("--cause", "abcdef"), "No message is parked for the cause 'abcdef'"),
    ],
)
def test_what_to_send_must_be_said_once(
    arguments: tuple[str, ...], reported: str, switchyard: Switchyard, parked: FakeParkedMessages
) -> None:
    parked.park("a")

    result = switchyard("dlq", "redrive", *arguments)

    assert result.exit_code == 2
    assert result.stderr.startswith(reported)
    assert parked.sent_nothing


def end(parked: FakeParkedMessages, state: TaskState, error: str | None = None) -> None:
    outcome = Outcome(state=state, error=error)
    parked.harness.state.tasks[TASK.ref] = replace(TASK, state=state, outcome=outcome)


def test_the_rest_follows_when_the_canary_is_handled(
    switchyard: Switchyard, parked: FakeParkedMessages
) -> None:
    parked.park("old", body=MESSAGE, minutes=9)
    parked.park("new", body="2", minutes=1)
    parked.clock.meanwhile = lambda: end(parked, TaskState.COMPLETED)

    result = switchyard("dlq", "redrive", "--canary", "--cause", codes(switchyard)[0])

    assert result.exit_code == 0
    assert "It was handled: its task is completed." in result.stderr
    assert [body for body, _ in parked.sent(QUEUE)] == [MESSAGE, "2"]
    assert parked.blobs.blobs == {}


def test_the_rest_stays_when_the_canary_comes_back(
    switchyard: Switchyard, parked: FakeParkedMessages
) -> None:
    parked.park("old", body="1", minutes=9)
    parked.park("new", body="2", minutes=1)
    parked.clock.meanwhile = lambda: parked.park("again", body="1", minutes=-1)

    result = switchyard("dlq", "redrive", "--canary", "--cause", codes(switchyard)[0])

    assert result.exit_code == 1
    assert "it was parked again: body: no. The others stay parked." in result.stderr
    assert [body for body, _ in parked.sent(QUEUE)] == ["1"]
    left = json.loads(switchyard("dlq", "list", "--json").stdout)
    assert {kept["id"] for kept in left} == {"again", "new"}


def test_the_rest_stays_when_the_canarys_task_fails(
    switchyard: Switchyard, parked: FakeParkedMessages
) -> None:
    parked.park("old", body=MESSAGE, minutes=9)
    parked.park("new", body="2", minutes=1)
    parked.clock.meanwhile = lambda: end(parked, TaskState.FAILED, "no such shop")

    result = switchyard("dlq", "redrive", "--canary", "old", "new")

    assert result.exit_code == 1
    assert "its task failed: no such shop" in result.stderr
    assert [body for body, _ in parked.sent(QUEUE)] == [MESSAGE]


def test_a_canary_of_which_nothing_is_heard_keeps_the_rest_back(
    switchyard: Switchyard, parked: FakeParkedMessages
) -> None:
    parked.park("old", body="1")
    parked.park("new", body="2")

    result = switchyard("dlq", "redrive", "--canary", "--patience", "5", "old", "new")

    assert result.exit_code == 1
    assert "neither handled nor parked again in 5 s" in result.stderr
    assert len(parked.sent(QUEUE)) == 1


def test_an_event_that_was_saved_is_handled(
    switchyard: Switchyard, parked: FakeParkedMessages
) -> None:
    parked.undeliverable("event", body=json.dumps({"detail": SAVED}))
    record = {
        "PK": f"TENANT#{TASK.ref.tenant}",
        "SK": "TIMESTAMP#0000000000001#EVENT#e",
        "GSI1PK": f"TASK#{TASK.ref.request_id}",
        "GSI1SK": "TASK#TIMESTAMP#0000000000001#EVENT#e",
        "timestamp": 1,
        "eventId": "e",
        "entityType": "TASK",
        "properties": {},
        **SAVED,
    }
    parked.clock.meanwhile = lambda: parked.harness.log.append(record)

    result = switchyard("dlq", "redrive", "--canary", "event")

    assert "its event is in the log" in result.stderr
    assert result.exit_code == 0


def test_an_event_whose_task_was_followed_is_handled(
    switchyard: Switchyard, parked: FakeParkedMessages
) -> None:
    parked.undeliverable(
        "event", queue="switchyard-local-dispatch-queue-dlq", body=json.dumps({"detail": SAVED})
    )
    settled = replace(TASK, state=TaskState.COMPLETED, due_at_ms=1)
    parked.harness.state.tasks[TASK.ref] = settled

    def follow() -> None:
        parked.harness.state.tasks[TASK.ref] = replace(settled, due_at_ms=None)

    parked.clock.meanwhile = follow

    result = switchyard("dlq", "redrive", "--canary", "event")

    assert "the dispatcher has followed its task" in result.stderr
    assert result.exit_code == 0
