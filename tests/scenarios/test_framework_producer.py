"""The producer: good messages that are adopted, and poison that never can be."""

from pathlib import Path

import pytest

from switchyard.adapters import aws
from switchyard.contracts.messages import (
    Delivered,
    ForeignTask,
    Malformed,
    MessageAttribute,
    parse_message,
)
from switchyard_scenarios.harness.harness import Harness
from switchyard_scenarios.harness.names import Names
from switchyard_scenarios.harness.place import Place
from switchyard_scenarios.producer import Message, Producer, ProducerSwitches, main, messages


def delivered(message: Message) -> Delivered:
    attribute = MessageAttribute(data_type="String", string_value=message.id)
    return Delivered(
        body=message.body, message_id="1", sent_at_ms=0, attributes={"requestId": attribute}
    )


def test_a_good_message_is_a_bare_task_with_its_input() -> None:
    switches = ProducerSwitches(prefix="order", input={"offline": {"delayMs": 5}})
    second = messages(switches, 2)[1]
    task = parse_message(delivered(second), tenant="acme")
    assert isinstance(task, ForeignTask)
    assert (task.ref.request_id, task.name) == ("order-1", "handle-message")
    assert task.input == {"n": 1, "offline": {"delayMs": 5}}


@pytest.mark.parametrize(("percent", "count", "poison"), [(0, 20, 0), (20, 20, 4), (100, 8, 8)])
def test_exactly_the_percentage_is_poison(percent: int, count: int, poison: int) -> None:
    made = messages(ProducerSwitches(poison_percent=percent), count)
    assert len(made) == count
    assert sum(bool(message.poison) for message in made) == poison


def test_the_kinds_of_poison_take_turns_and_none_can_be_understood() -> None:
    made = messages(ProducerSwitches(poison_percent=100), 8)
    kinds = [message.poison for message in made]
    assert kinds == ["not JSON", "wrong shape", "no name", "id of 257 characters"] * 2
    for message in made:
        with pytest.raises(Malformed):
            parse_message(delivered(message), tenant="acme")


def test_versions_are_messages_about_the_same_entity() -> None:
    made = messages(ProducerSwitches(prefix="order", versions=2), 2)
    assert [message.id for message in made] == [
        "order-0-v1",
        "order-0-v2",
        "order-1-v1",
        "order-1-v2",
    ]
    task = parse_message(delivered(made[1]), tenant="acme")
    assert isinstance(task, ForeignTask)
    assert task.input == {"entity": "order-0", "version": 2}


def test_the_command_sends_a_template_with_attributes(
    moto_place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness = Harness(place=moto_place, names=Names.numbered(1))
    url = harness.make_queue(harness.names.tasks)
    template = tmp_path / "body.json"
    template.write_text('{"name": "handle-message", "input": {"order": {n}}}')
    monkeypatch.setattr(aws, "client", moto_place.client)
    command = ["--queue-url", url, "--count", "12", "--template", str(template)]
    assert main([*command, "--attribute", "kind=order=1"]) == 0
    answer = moto_place.client("sqs").receive_message(
        QueueUrl=url, MaxNumberOfMessages=10, MessageAttributeNames=["All"]
    )
    first = answer["Messages"][0]
    assert first["Body"] == '{"name": "handle-message", "input": {"order": 0}}'
    assert first["MessageAttributes"]["requestId"]["StringValue"] == "message-0"
    assert first["MessageAttributes"]["kind"]["StringValue"] == "order=1"
    assert sum(harness.depth(url).values()) == 12


def test_what_is_sent_is_told_apart(moto_place: Place) -> None:
    harness = Harness(place=moto_place, names=Names.numbered(1))
    url = harness.make_queue(harness.names.tasks)
    switches = ProducerSwitches(poison_percent=50)
    sent = Producer(moto_place.client("sqs"), url, switches).send(4)
    assert (sent.good, sent.poison) == (("message-0", "message-2"), ("message-1", "message-3"))


@pytest.mark.parametrize(
    "wrong",
    [
        ["--attribute", "kind"],
        ["--poison", "101"],
        ["--template", "nowhere.json"],
        ["--versions", "-1"],
        ["--count", "many"],
    ],
)
def test_a_wrong_option_is_told_before_anything_is_sent(
    wrong: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["--queue-url", "nowhere", "--count", "1", *wrong])
    assert wrong[0] in capsys.readouterr().err


def test_a_queue_that_is_not_there_is_told_in_a_line(
    moto_place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(aws, "client", moto_place.client)
    url = Harness(place=moto_place, names=Names.numbered(1)).make_queue("gone")
    moto_place.client("sqs").delete_queue(QueueUrl=url)
    assert main(["--queue-url", url, "--count", "1"]) == 1
    assert "Not all was sent: " in capsys.readouterr().err


def test_what_ended_among_the_dead_letters_is_known_by_its_id(moto_place: Place) -> None:
    harness = Harness(place=moto_place, names=Names.numbered(1))
    url = harness.make_queue(harness.names.dead_letters)
    Producer(moto_place.client("sqs"), url, ProducerSwitches(prefix="deadly")).send(12)
    assert sorted(harness.dead_letters()) == sorted(f"deadly-{n}" for n in range(12))
