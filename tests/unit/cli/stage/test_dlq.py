"""`dlq`: what nobody could handle, looked at, sent again and deleted."""

import json

import pytest

from switchyard.domain.errors import Unavailable
from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.api import NOW_MS, FakeCloud
from tests.unit.cli.fakes.parked_messages import ARN, FakeParkedMessages

FIRST = "11111111-aaaa-4000-8000-000000000001"
SECOND = "11111111-bbbb-4000-8000-000000000002"
EVENT = "22222222-cccc-4000-8000-000000000003"


def test_the_list_says_what_where_how_old_and_why(
    switchyard: Switchyard, parked: FakeParkedMessages
) -> None:
    parked.park(FIRST, reason="name: Field required", minutes=5)
    parked.undeliverable(EVENT, ERROR_CODE="NO_PERMISSIONS")

    result = switchyard("dlq", "list")

    _, first, event = result.stdout.splitlines()
    assert first.split() == [
        FIRST, "switchyard-local-task-queue", "5", "min", "00", "s", "name:", "Field", "required",
    ]  # fmt: skip
    assert event.split() == [
        EVENT, "switchyard-local-event-queue-dlq", "24", "h", "00", "min", "NO_PERMISSIONS",
    ]  # fmt: skip
    assert parked.asked == [("local", "http://127.0.0.1:4580")]
    assert result.exit_code == 0


def test_the_newest_come_first_and_the_limit_leaves_the_oldest_out(
    switchyard: Switchyard, parked: FakeParkedMessages
) -> None:
    parked.park("first", minutes=3, waited=0)
    parked.park("last", minutes=1, waited=120)
    parked.undeliverable("of yesterday")
    parked.park("middle", minutes=2, waited=60)

    found = json.loads(switchyard("dlq", "list", "--limit", "3", "--json").stdout)

    assert [kept["id"] for kept in found] == ["last", "middle", "first"]


def test_an_empty_list_says_so(switchyard: Switchyard) -> None:
    assert switchyard("dlq", "list").stdout == "No messages are parked.\n"
    assert json.loads(switchyard("dlq", "list", "--json").stdout) == []


def test_one_is_shown_whole_and_steers_nothing(
    switchyard: Switchyard, parked: FakeParkedMessages
) -> None:
    key = parked.park(FIRST, body="\x1b[31mred\n")

    result = switchyard("dlq", "show", FIRST[:9])

    assert "\\x1b[31mred\\n" in result.stdout
    assert "\x1b" not in result.stdout
    for fact in (FIRST, "body: no", "switchyard-local-task-queue", "blue", key):
        assert fact in result.stdout
    shown = json.loads(switchyard("dlq", "show", FIRST, "--json").stdout)
    assert shown["body"] == "\x1b[31mred\n"


@pytest.mark.parametrize("command", ["show", "redrive", "discard"])
@pytest.mark.parametrize(
    ("name", "words"),
    [("nobody", "No id of a parked message"), ("1111", "2 ids begin"), ("", "No id")],
)
def test_a_name_that_is_not_exactly_ones_touches_nothing(
    command: str, name: str, words: str, switchyard: Switchyard, parked: FakeParkedMessages
) -> None:
    parked.park(FIRST)
    parked.park(SECOND)
    before = dict(parked.blobs.blobs)

    yes = ["--yes"] if command == "discard" else []
    result = switchyard("dlq", command, *yes, "--", name)

    assert result.stderr.startswith(words)
    assert result.exit_code == 2
    assert parked.blobs.blobs == before
    assert parked.sent_nothing


def test_a_message_goes_back_to_the_task_queue_with_its_attributes(
    switchyard: Switchyard, parked: FakeParkedMessages
) -> None:
    parked.park(FIRST, body="no JSON")

    result = switchyard("dlq", "redrive", FIRST)

    ((body, attributes),) = parked.sent("switchyard-local-task-queue")
    assert (body, attributes["colour"].string_value) == ("no JSON", "blue")
    assert parked.blobs.blobs == {}
    assert result.stdout == "1 message sent again.\n"


@pytest.mark.parametrize(
    ("queue", "noted", "destination"),
    [
        ("switchyard-local-event-queue-dlq", {}, "switchyard-local-event-queue"),
        ("switchyard-local-dispatch-queue-dlq", {}, "switchyard-local-dispatch-queue"),
        (
            "switchyard-local-undeliverable-events-dlq",
            {
                "TARGET_ARN": f"{ARN}:switchyard-local-dispatch-queue",
                "ERROR_CODE": "NO_PERMISSIONS",
            },
            "switchyard-local-dispatch-queue",
        ),
    ],
)
def test_an_event_goes_to_the_queue_that_it_was_meant_for(
    queue: str,
    noted: dict[str, str],
    destination: str,
    switchyard: Switchyard,
    parked: FakeParkedMessages,
) -> None:
    parked.undeliverable(EVENT, queue=queue, **noted)

    assert switchyard("dlq", "redrive", EVENT).exit_code == 0

    assert parked.sent(destination) == [('{"detail": {}}', {})]
    assert parked.blobs.blobs == {}


def test_what_does_not_say_whom_it_was_meant_for_stays(
    switchyard: Switchyard, parked: FakeParkedMessages
) -> None:
    parked.undeliverable(EVENT, queue="switchyard-local-undeliverable-events-dlq")

    result = switchyard("dlq", "redrive", EVENT)

    assert result.stderr == "There is no queue switchyard-local-undeliverable-events.\n"
    assert result.exit_code == 2
    assert len(parked.blobs.blobs) == 1


def test_what_was_sent_and_not_removed_is_sent_again_rather_than_lost(
    switchyard: Switchyard, parked: FakeParkedMessages, monkeypatch: pytest.MonkeyPatch
) -> None:
    parked.park(FIRST)

    def refuse(key: str) -> None:
        raise Unavailable("the bucket does not answer")

    monkeypatch.setattr(parked.blobs, "delete", refuse)
    assert switchyard("dlq", "redrive", FIRST).exit_code == 3
    monkeypatch.undo()
    assert switchyard("dlq", "redrive", FIRST).exit_code == 0

    assert len(parked.sent("switchyard-local-task-queue")) == 2
    assert parked.blobs.blobs == {}


def test_several_are_found_before_the_first_is_sent_and_each_is_sent_once(
    switchyard: Switchyard, parked: FakeParkedMessages
) -> None:
    parked.park(FIRST)
    parked.park(SECOND)

    assert switchyard("dlq", "redrive", FIRST, "nobody").exit_code == 2
    assert parked.sent("switchyard-local-task-queue") == []
    assert switchyard("dlq", "redrive", FIRST, SECOND, FIRST).exit_code == 0
    assert len(parked.sent("switchyard-local-task-queue")) == 2


def test_discarding_asks_first(switchyard: Switchyard, parked: FakeParkedMessages) -> None:
    parked.park(FIRST)

    refused = switchyard("dlq", "discard", FIRST)
    assert refused.exit_code != 0
    assert len(parked.blobs.blobs) == 1

    result = switchyard("dlq", "discard", FIRST, "--yes")
    assert result.stdout == "1 message deleted.\n"
    assert parked.blobs.blobs == {}
    assert parked.sent_nothing


STRANGE = "parked/tasks/2027-01-15/x.json"
GONE = "parked/tasks/2027-01-15/y.json"


def test_what_cannot_be_read_is_listed_with_its_key_and_why_and_hides_nothing(
    switchyard: Switchyard, parked: FakeParkedMessages, monkeypatch: pytest.MonkeyPatch
) -> None:
    parked.park(FIRST, minutes=5)
    parked.blobs.put(STRANGE, b"{}", content_type="j")
    parked.blobs.put(GONE, b"{}", content_type="j")
    parked.blobs.modified_at_ms[GONE] = NOW_MS - 60_000
    read = parked.blobs.get

    def get(key: str) -> bytes:
        parked.blobs.delete(GONE)  # somebody was faster
        return read(key)

    monkeypatch.setattr(parked.blobs, "get", get)

    listed = json.loads(switchyard("dlq", "list", "--json").stdout)
    parked.blobs.put(GONE, b"{}", content_type="j")
    table = switchyard("dlq", "list")

    assert [entry["key"] for entry in listed][:2] == [STRANGE, GONE]
    assert listed[0] == {
        "id": "x",
        "key": STRANGE,
        "parkedAt": "2027-01-15T08:00:00Z",
        "unreadable": f"in the bucket, {STRANGE} is not a parked message",
    }
    assert listed[1]["unreadable"] == f"there is nothing at {GONE} in the bucket"
    assert listed[2]["id"] == FIRST
    for reported in (FIRST, *(entry["unreadable"] for entry in listed[:2])):
        assert reported in table.stdout
    assert table.exit_code == 0


def test_what_cannot_be_read_is_not_shown(
    switchyard: Switchyard, parked: FakeParkedMessages
) -> None:
    parked.blobs.put(STRANGE, b"{}", content_type="j")

    result = switchyard("dlq", "show", "x")

    assert STRANGE in result.stderr
    assert result.exit_code == 2


def test_what_cannot_be_read_can_be_deleted(
    switchyard: Switchyard, parked: FakeParkedMessages
) -> None:
    parked.blobs.put(STRANGE, b"{}", content_type="j")

    result = switchyard("dlq", "discard", "x", "--yes")

    assert result.stdout == "1 message deleted.\n"
    assert list(parked.blobs.keys("")) == []


@pytest.mark.parametrize(
    "facts",
    [
        {"sentAt": 10**15},
        {"keptAt": 10**400},
        {"attributes": {}},
        {"attributes": {"SentTimestamp": "yesterday"}},
        {"messageAttributes": {"ERROR_CODE": {"stringValue": 5}}},
    ],
    ids=lambda facts: next(iter(facts)),
)
def test_a_letter_that_was_tampered_with_hides_no_other(
    facts: dict[str, object], switchyard: Switchyard, parked: FakeParkedMessages
) -> None:
    parked.park(FIRST)
    key = parked.undeliverable(EVENT)
    letter = json.loads(parked.blobs.get(key)) | facts
    parked.blobs.put(key, json.dumps(letter).encode(), content_type="j")

    listed = json.loads(switchyard("dlq", "list", "--json").stdout)

    assert [entry["id"] for entry in listed if "unreadable" in entry] == [EVENT]
    assert len(listed) == 2


def test_a_stage_that_is_out_of_reach(switchyard: Switchyard, parked: FakeParkedMessages) -> None:
    parked.outage = Unavailable("You must specify a region.")

    result = switchyard("dlq", "list", "--stage", "dev")

    assert result.stderr.startswith(
        "The parked messages of the stage dev are out of reach: You must specify a region."
    )
    assert parked.asked == [("dev", None)]
    assert result.exit_code == 3


def test_a_local_cloud_that_is_down(switchyard: Switchyard, cloud: FakeCloud) -> None:
    cloud.running = False

    result = switchyard("dlq", "list")

    assert result.stderr.startswith("The local cloud is not running")
    assert result.exit_code == 3
