"""Sends bare messages, as a producer that knows nothing of us would: good ones, and poison.

`python -m switchyard_scenarios.producer --queue-url URL --count 20 --poison 10` sends from the
command line.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from switchyard.adapters import aws
from switchyard.adapters.sqs import ENTRIES_PER_BATCH
from switchyard.contracts.messages import REQUEST_ID_ATTRIBUTE
from switchyard.domain.errors import SwitchyardError, Unavailable
from switchyard_scenarios.harness.harness import DEFINITION

PLACE_OF_THE_NUMBER: Final = "{n}"


@dataclass(frozen=True, slots=True)
class Message:
    id: str
    body: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    """The attributes of the message beside its id."""
    poison: str = ""
    """The defect of the message, if it has one."""


@dataclass(frozen=True, kw_only=True)
class ProducerSwitches:
    prefix: str = "message"
    """The prefix of the ids."""
    poison_percent: int = 0
    input: Mapping[str, Any] = field(default_factory=dict)
    """The input of every good message, such as `{"offline": {"delayMs": 500}}`."""
    template: str = ""
    """A whole body instead, in which `{n}` stands for the message's number."""
    attributes: Mapping[str, str] = field(default_factory=dict)
    versions: int = 0
    """The number of messages for each entity, each with `entity` and `version`; 0 for none."""


@dataclass(frozen=True, slots=True)
class Sent:
    good: tuple[str, ...]
    poison: tuple[str, ...]


class Producer:
    def __init__(self, sqs: Any, queue_url: str, switches: ProducerSwitches) -> None:
        self._sqs = sqs
        self._url = queue_url
        self._switches = switches

    def send(self, count: int) -> Sent:
        """Send so many messages; with versions, of so many entities."""
        return self.send_these(messages(self._switches, count))

    def send_these(self, all_of_them: Sequence[Message]) -> Sent:
        """Send the messages in this order, as far as a queue has one."""
        for start in range(0, len(all_of_them), ENTRIES_PER_BATCH):
            self._send_batch(all_of_them[start : start + ENTRIES_PER_BATCH])
        return Sent(
            good=tuple(message.id for message in all_of_them if not message.poison),
            poison=tuple(message.id for message in all_of_them if message.poison),
        )

    def _send_batch(self, batch: Sequence[Message]) -> None:
        entries = [_entry(number, message) for number, message in enumerate(batch)]
        answer = aws.call(self._sqs.send_message_batch, QueueUrl=self._url, Entries=entries)
        if answer.get("Failed"):
            raise Unavailable(f"SQS refused {len(answer['Failed'])} of {len(batch)} messages")


def messages(switches: ProducerSwitches, count: int) -> list[Message]:
    """The poison is spread evenly, and its kinds take turns."""
    if switches.versions:
        return list(_versions(switches, count))
    kinds = list(_POISON)
    made: list[Message] = []
    for n in range(count):
        poisoned = n * switches.poison_percent // 100
        good = _good(switches, n)
        if (n + 1) * switches.poison_percent // 100 > poisoned:
            kind = kinds[poisoned % len(kinds)]
            made.append(_POISON[kind](good, kind))
        else:
            made.append(good)
    return made


def _good(switches: ProducerSwitches, n: int) -> Message:
    body = {"name": DEFINITION, "input": {"n": n, **switches.input}}
    text = switches.template.replace(PLACE_OF_THE_NUMBER, str(n)) or json.dumps(body)
    return Message(f"{switches.prefix}-{n}", text, switches.attributes)


def _versions(switches: ProducerSwitches, count: int) -> Iterator[Message]:
    for n in range(count):
        entity = f"{switches.prefix}-{n}"
        for version in range(1, switches.versions + 1):
            said = {"entity": entity, "version": version, **switches.input}
            body = json.dumps({"name": DEFINITION, "input": said})
            yield Message(f"{entity}-v{version}", body, switches.attributes)


_POISON: Final[Mapping[str, Callable[[Message, str], Message]]] = {
    "not JSON": lambda good, kind: Message(good.id, "{not JSON", good.attributes, kind),
    "wrong shape": lambda good, kind: Message(good.id, '["a list"]', good.attributes, kind),
    "no name": lambda good, kind: Message(good.id, '{"input": {}}', good.attributes, kind),
    "id of 257 characters": lambda good, kind: Message(
        good.id.ljust(257, "x"), good.body, good.attributes, kind
    ),
}


def _entry(number: int, message: Message) -> dict[str, Any]:
    said = {REQUEST_ID_ATTRIBUTE: message.id, **message.attributes}
    attributes = {
        name: {"DataType": "String", "StringValue": value} for name, value in said.items()
    }
    return {"Id": str(number), "MessageBody": message.body, "MessageAttributes": attributes}


def main(arguments: Sequence[str]) -> int:
    asked = _parser().parse_args(arguments)
    switches = ProducerSwitches(
        prefix=asked.prefix,
        poison_percent=asked.poison,
        template=asked.template or "",
        attributes=dict(asked.attribute),
        versions=asked.versions,
    )
    try:
        sent = Producer(aws.client("sqs"), asked.queue_url, switches).send(asked.count)
    except (BotoCoreError, ClientError, SwitchyardError) as problem:
        sys.stderr.write(f"Not all was sent: {problem}\n")
        return 1
    sys.stdout.write(json.dumps({"good": len(sent.good), "poison": len(sent.poison)}) + "\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m switchyard_scenarios.producer")
    parser.add_argument("--queue-url", required=True)
    parser.add_argument("--count", type=_number, required=True)
    parser.add_argument("--prefix", default="message", help="what the ids begin with")
    parser.add_argument("--poison", type=int, choices=range(101), default=0, metavar="PERCENT")
    parser.add_argument(
        "--template", type=_text_in, metavar="FILE", help="a body, with {n} for its number"
    )
    parser.add_argument(
        "--attribute", action="append", type=_pair, default=[], metavar="NAME=VALUE"
    )
    parser.add_argument("--versions", type=_number, default=0, help="messages for each entity")
    return parser


def _number(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text} is no number of messages")
    return int(text)


def _text_in(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise argparse.ArgumentTypeError(f"{file} cannot be read: {problem}") from problem


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise argparse.ArgumentTypeError(f"{text} is not NAME=VALUE")
    return name, value


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
