"""`dlq`: what nobody could handle, looked at, sent again and thrown away."""

import json

import pytest

from switchyard.domain.errors import Unavailable
from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fake_office import ARN, FakeOffice
from tests.unit.cli.fakes import NOW_MS, FakeCloud

FIRST = "11111111-aaaa-4000-8000-000000000001"
SECOND = "11111111-bbbb-4000-8000-000000000002"
EVENT = "22222222-cccc-4000-8000-000000000003"


def test_the_list_says_what_where_how_old_and_why(
    switchyard: Switchyard, office: FakeOffice
) -> None:
    office.quarantine(FIRST, reason="name: Field required", minutes=5)
    office.undeliverable(EVENT, ERROR_CODE="NO_PERMISSIONS")

    result = switchyard("dlq", "list")

    _, first, event = result.stdout.splitlines()
    assert first.split() == [
        FIRST, "switchyard-local-task-queue", "5", "min", "00", "s", "name:", "Field", "required",
    ]  # fmt: skip
    assert event.split() == [
        EVENT, "switchyard-local-event-queue-dlq", "24", "h", "00", "min", "NO_PERMISSIONS",
    ]  # fmt: skip
    assert office.asked == [("local", "http://127.0.0.1:4580")]
    assert result.exit_code == 0


def test_the_newest_come_first_and_the_limit_leaves_the_oldest_out(
    switchyard: Switchyard, office: FakeOffice
) -> None:
    office.quarantine("first", minutes=3, waited=0)
    office.quarantine("last", minutes=1, waited=120)
    office.undeliverable("of yesterday")
    office.quarantine("middle", minutes=2, waited=60)

    found = json.loads(switchyard("dlq", "list", "--limit", "3", "--json").stdout)

    assert [kept["id"] for kept in found] == ["last", "middle", "first"]


def test_an_empty_list_says_so(switchyard: Switchyard) -> None:
    assert switchyard("dlq", "list").stdout == "Nothing is kept: everything could be handled.\n"
    assert json.loads(switchyard("dlq", "list", "--json").stdout) == []


def test_one_is_shown_whole_and_steers_nothing(switchyard: Switchyard, office: FakeOffice) -> None:
    key = office.quarantine(FIRST, body="\x1b[31mred\n")

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
    [("nobody", "Nothing that is kept begins"), ("1111", "2 ids begin"), ("", "Nothing that")],
)
def test_a_name_that_is_not_exactly_ones_touches_nothing(
    command: str, name: str, words: str, switchyard: Switchyard, office: FakeOffice
) -> None:
    office.quarantine(FIRST)
    office.quarantine(SECOND)
    before = dict(office.blobs.blobs)

    yes = ["--yes"] if command == "discard" else []
    result = switchyard("dlq", command, *yes, "--", name)

    assert result.stderr.startswith(words)
    assert result.exit_code == 2
    assert office.blobs.blobs == before
    assert office.sent_nothing


def test_a_message_goes_back_to_the_task_queue_with_its_attributes(
    switchyard: Switchyard, office: FakeOffice
) -> None:
    office.quarantine(FIRST, body="no JSON")

    result = switchyard("dlq", "redrive", FIRST)

    ((body, attributes),) = office.sent("switchyard-local-task-queue")
    assert (body, attributes["colour"].string_value) == ("no JSON", "blue")
    assert office.blobs.blobs == {}
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
    office: FakeOffice,
) -> None:
    office.undeliverable(EVENT, queue=queue, **noted)

    assert switchyard("dlq", "redrive", EVENT).exit_code == 0

    assert office.sent(destination) == [('{"detail": {}}', {})]
    assert office.blobs.blobs == {}


def test_what_does_not_say_whom_it_was_meant_for_stays(
    switchyard: Switchyard, office: FakeOffice
) -> None:
    office.undeliverable(EVENT, queue="switchyard-local-undeliverable-events-dlq")

    result = switchyard("dlq", "redrive", EVENT)

    assert result.stderr == "There is no queue switchyard-local-undeliverable-events.\n"
    assert result.exit_code == 2
    assert len(office.blobs.blobs) == 1


def test_what_was_sent_and_not_removed_is_sent_again_rather_than_lost(
    switchyard: Switchyard, office: FakeOffice, monkeypatch: pytest.MonkeyPatch
) -> None:
    office.quarantine(FIRST)

    def refuse(key: str) -> None:
        raise Unavailable("the bucket does not answer")

    monkeypatch.setattr(office.blobs, "delete", refuse)
    assert switchyard("dlq", "redrive", FIRST).exit_code == 3
    monkeypatch.undo()
    assert switchyard("dlq", "redrive", FIRST).exit_code == 0

    assert len(office.sent("switchyard-local-task-queue")) == 2
    assert office.blobs.blobs == {}


def test_several_are_found_before_the_first_is_sent_and_each_is_sent_once(
    switchyard: Switchyard, office: FakeOffice
) -> None:
    office.quarantine(FIRST)
    office.quarantine(SECOND)

    assert switchyard("dlq", "redrive", FIRST, "nobody").exit_code == 2
    assert office.sent("switchyard-local-task-queue") == []
    assert switchyard("dlq", "redrive", FIRST, SECOND, FIRST).exit_code == 0
    assert len(office.sent("switchyard-local-task-queue")) == 2


def test_discarding_asks_first(switchyard: Switchyard, office: FakeOffice) -> None:
    office.quarantine(FIRST)

    refused = switchyard("dlq", "discard", FIRST)
    assert refused.exit_code != 0
    assert len(office.blobs.blobs) == 1

    result = switchyard("dlq", "discard", FIRST, "--yes")
    assert result.stdout == "1 message thrown away.\n"
    assert office.blobs.blobs == {}
    assert office.sent_nothing


STRANGE = "quarantine/2027-01-15/x.json"
GONE = "quarantine/2027-01-15/y.json"


def test_what_cannot_be_read_is_listed_with_its_key_and_why_and_hides_nothing(
    switchyard: Switchyard, office: FakeOffice, monkeypatch: pytest.MonkeyPatch
) -> None:
    office.quarantine(FIRST, minutes=5)
    office.blobs.put(STRANGE, b"{}", content_type="j")
    office.blobs.put(GONE, b"{}", content_type="j")
    office.blobs.modified_at_ms[GONE] = NOW_MS - 60_000
    read = office.blobs.get

    def get(key: str) -> bytes:
        office.blobs.delete(GONE)  # somebody was faster
        return read(key)

    monkeypatch.setattr(office.blobs, "get", get)

    listed = json.loads(switchyard("dlq", "list", "--json").stdout)
    office.blobs.put(GONE, b"{}", content_type="j")
    table = switchyard("dlq", "list")

    assert [entry["key"] for entry in listed][:2] == [STRANGE, GONE]
    assert listed[0] == {
        "id": "x",
        "key": STRANGE,
        "keptAt": "2027-01-15T08:00:00Z",
        "unreadable": f"in the bucket, {STRANGE} is no message that was kept",
    }
    assert listed[1]["unreadable"] == f"there is nothing at {GONE} in the bucket"
    assert listed[2]["id"] == FIRST
    for told in (FIRST, *(entry["unreadable"] for entry in listed[:2])):
        assert told in table.stdout
    assert table.exit_code == 0


def test_what_cannot_be_read_is_not_shown(switchyard: Switchyard, office: FakeOffice) -> None:
    office.blobs.put(STRANGE, b"{}", content_type="j")

    result = switchyard("dlq", "show", "x")

    assert STRANGE in result.stderr
    assert result.exit_code == 2


def test_what_cannot_be_read_can_be_thrown_away(switchyard: Switchyard, office: FakeOffice) -> None:
    office.blobs.put(STRANGE, b"{}", content_type="j")

    result = switchyard("dlq", "discard", "x", "--yes")

    assert result.stdout == "1 message thrown away.\n"
    assert list(office.blobs.keys("")) == []


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
    facts: dict[str, object], switchyard: Switchyard, office: FakeOffice
) -> None:
    office.quarantine(FIRST)
    key = office.undeliverable(EVENT)
    letter = json.loads(office.blobs.get(key)) | facts
    office.blobs.put(key, json.dumps(letter).encode(), content_type="j")

    listed = json.loads(switchyard("dlq", "list", "--json").stdout)

    assert [entry["id"] for entry in listed if "unreadable" in entry] == [EVENT]
    assert len(listed) == 2


def test_a_stage_that_is_out_of_reach(switchyard: Switchyard, office: FakeOffice) -> None:
    office.outage = Unavailable("You must specify a region.")

    result = switchyard("dlq", "list", "--stage", "dev")

    assert result.stderr.startswith(
        "What the stage dev keeps is out of reach: You must specify a region. Is the stage deployed"
    )
    assert office.asked == [("dev", None)]
    assert result.exit_code == 3


def test_a_local_cloud_that_is_down(switchyard: Switchyard, cloud: FakeCloud) -> None:
    cloud.running = False

    result = switchyard("dlq", "list")

    assert result.stderr.startswith("The local cloud is not running")
    assert result.exit_code == 3
