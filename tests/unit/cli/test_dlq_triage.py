"""`dlq` by cause, and a canary before the rest."""

import json
from dataclasses import replace

import pytest

from switchyard.contracts.messages import TaskMessage
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Outcome
from tests.builders import a_task
from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fake_office import FakeOffice

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


def test_what_is_kept_is_shown_by_its_cause_the_commonest_first(
    switchyard: Switchyard, office: FakeOffice
) -> None:
    office.quarantine("a", reason="name: 'order-1' is not defined")
    office.quarantine("b", reason="name: 'order-2' is not defined", minutes=2)
    office.quarantine("c", reason="body: not JSON")
    office.blobs.put("quarantine/2027-01-15/x.json", b"{}", content_type="j")

    shown = switchyard("dlq")
    found = json.loads(switchyard("dlq", "--json").stdout)

    assert [(one["count"], one["cause"]) for one in found] == [
        (2, "name: … is not defined"),
        (1, "cannot be read"),
        (1, "body: not JSON"),
    ]
    assert found[0]["example"] == "b"
    assert shown.exit_code == 0
    for told in (found[0]["code"], QUEUE, "2 min", "name: … is not defined"):
        assert told in shown.stdout


def test_nothing_kept_is_said(switchyard: Switchyard) -> None:
    assert switchyard("dlq").stdout == "Nothing is kept: everything could be handled.\n"


def test_its_help_says_what_it_does_alone(switchyard: Switchyard) -> None:
    assert "by its cause" in switchyard("dlq", "--help").stdout


def test_all_of_one_cause_are_sent_and_no_other(switchyard: Switchyard, office: FakeOffice) -> None:
    office.quarantine("a", body="1", reason="line 1")
    office.quarantine("b", body="2", reason="line 2")
    office.quarantine("c", body="3", reason="another")
    code = codes(switchyard)[0]

    result = switchyard("dlq", "redrive", "--cause", code)

    assert result.stdout == "2 messages sent again.\n"
    assert sorted(body for body, _ in office.sent(QUEUE)) == ["1", "2"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "Say which"),
        (("a", "--cause", "abcdef"), "Say which"),
        (("--cause", "abcdef"), "Nothing is kept for a cause 'abcdef'"),
    ],
)
def test_what_to_send_must_be_said_once(
    arguments: tuple[str, ...], told: str, switchyard: Switchyard, office: FakeOffice
) -> None:
    office.quarantine("a")

    result = switchyard("dlq", "redrive", *arguments)

    assert result.exit_code == 2
    assert result.stderr.startswith(told)
    assert office.sent_nothing


def end(office: FakeOffice, state: TaskState, error: str | None = None) -> None:
    outcome = Outcome(state=state, error=error)
    office.yard.state.tasks[TASK.ref] = replace(TASK, state=state, outcome=outcome)


def test_the_rest_follows_when_the_canary_is_handled(
    switchyard: Switchyard, office: FakeOffice
) -> None:
    office.quarantine("old", body=MESSAGE, minutes=9)
    office.quarantine("new", body="2", minutes=1)
    office.clock.meanwhile = lambda: end(office, TaskState.COMPLETED)

    result = switchyard("dlq", "redrive", "--canary", "--cause", codes(switchyard)[0])

    assert result.exit_code == 0
    assert "It was handled: its task is completed." in result.stderr
    assert [body for body, _ in office.sent(QUEUE)] == [MESSAGE, "2"]
    assert office.blobs.blobs == {}


def test_the_rest_stays_when_the_canary_comes_back(
    switchyard: Switchyard, office: FakeOffice
) -> None:
    office.quarantine("old", body="1", minutes=9)
    office.quarantine("new", body="2", minutes=1)
    office.clock.meanwhile = lambda: office.quarantine("again", body="1", minutes=-1)

    result = switchyard("dlq", "redrive", "--canary", "--cause", codes(switchyard)[0])

    assert result.exit_code == 1
    assert "it came back: body: no. The others stay." in result.stderr
    assert [body for body, _ in office.sent(QUEUE)] == ["1"]
    left = json.loads(switchyard("dlq", "list", "--json").stdout)
    assert {kept["id"] for kept in left} == {"again", "new"}


def test_the_rest_stays_when_the_canarys_task_fails(
    switchyard: Switchyard, office: FakeOffice
) -> None:
    office.quarantine("old", body=MESSAGE, minutes=9)
    office.quarantine("new", body="2", minutes=1)
    office.clock.meanwhile = lambda: end(office, TaskState.FAILED, "no such shop")

    result = switchyard("dlq", "redrive", "--canary", "old", "new")

    assert result.exit_code == 1
    assert "its task failed: no such shop" in result.stderr
    assert [body for body, _ in office.sent(QUEUE)] == [MESSAGE]


def test_a_canary_of_which_nothing_is_heard_keeps_the_rest_back(
    switchyard: Switchyard, office: FakeOffice
) -> None:
    office.quarantine("old", body="1")
    office.quarantine("new", body="2")

    result = switchyard("dlq", "redrive", "--canary", "--patience", "5", "old", "new")

    assert result.exit_code == 1
    assert "neither handled nor back after 5 s" in result.stderr
    assert len(office.sent(QUEUE)) == 1


def test_an_event_that_was_saved_is_handled(switchyard: Switchyard, office: FakeOffice) -> None:
    office.undeliverable("event", body=json.dumps({"detail": SAVED}))
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
    office.clock.meanwhile = lambda: office.yard.log.append(record)

    result = switchyard("dlq", "redrive", "--canary", "event")

    assert "its event is in the log" in result.stderr
    assert result.exit_code == 0


def test_an_event_whose_task_was_followed_is_handled(
    switchyard: Switchyard, office: FakeOffice
) -> None:
    office.undeliverable(
        "event", queue="switchyard-local-dispatch-queue-dlq", body=json.dumps({"detail": SAVED})
    )
    settled = replace(TASK, state=TaskState.COMPLETED, due_at_ms=1)
    office.yard.state.tasks[TASK.ref] = settled

    def follow() -> None:
        office.yard.state.tasks[TASK.ref] = replace(settled, due_at_ms=None)

    office.clock.meanwhile = follow

    result = switchyard("dlq", "redrive", "--canary", "event")

    assert "the dispatcher has followed its task" in result.stderr
    assert result.exit_code == 0
