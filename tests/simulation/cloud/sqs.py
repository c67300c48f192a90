"""SQS: at least once, in no order, with visibility, receipts and dead letters."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from botocore.exceptions import ClientError

from switchyard.contracts.messages import Delivered, MessageAttribute
from tests.simulation.kernel.world import World

DEFAULT_VISIBILITY: Final = 900.0


@dataclass(slots=True)
class Message:
    number: int
    body: str
    visible_at: float
    sent_at_ms: int
    attributes: dict[str, Any] = field(default_factory=dict)
    receives: int = 0
    receipt: int = 0

    @property
    def message_id(self) -> str:
        return f"message-{self.number}"

    def delivered(self) -> Delivered:
        """Return the message as a function gets it."""
        return Delivered(
            body=self.body,
            message_id=self.message_id,
            sent_at_ms=self.sent_at_ms,
            attributes={
                name: MessageAttribute(data_type=a["DataType"], string_value=a["StringValue"])
                for name, a in self.attributes.items()
            },
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueFaults:
    lost: float = 0.0
    duplicated: float = 0.0
    late: float = 0.0
    """How likely a message is to take up to a minute."""


@dataclass(slots=True)
class Queue:
    world: World
    name: str
    faults: QueueFaults = field(default_factory=QueueFaults)
    dead_letters: "Queue | None" = None
    max_receives: int = 3
    messages: dict[int, Message] = field(default_factory=dict)
    on_put: list[Callable[[Message], None]] = field(default_factory=list)
    """Called with every message that the queue gets."""
    _listeners: list[Callable[[], None]] = field(default_factory=list)

    def send(
        self, body: str, *, delay: float = 0.0, attributes: dict[str, Any] | None = None
    ) -> None:
        if self.world.chance(self.faults.lost):
            self.world.report(self.name, f"LOST {body[:80]}")
            return
        for _ in range(2 if self.world.chance(self.faults.duplicated) else 1):
            late = self.world.dice.uniform(0, 60) if self.world.chance(self.faults.late) else 0.0
            self.put(body, delay=delay + late, attributes=attributes)

    def put(
        self, body: str, *, delay: float = 0.0, attributes: dict[str, Any] | None = None
    ) -> None:
        """Whatever the weather."""
        number = self.world.number("message")
        message = Message(number, body, self.world.now + delay, self.world.now_ms, attributes or {})
        self._add(message)
        self.world.after(delay, self._announce)

    def take_over(self, message: Message) -> None:
        """It keeps its id and the time of its sending."""
        message.receives = 0
        self._add(message)
        self.world.after(0, self._announce)

    def take(self, at_most: int, *, visibility: float) -> list[Message]:
        """Return visible messages in any order; those received too often become dead letters."""
        self._move_dead_letters()
        visible = [m for m in self.messages.values() if m.visible_at <= self.world.now]
        taken = self.world.dice.sample(visible, min(at_most, len(visible)))
        for message in taken:
            message.receives += 1
            message.receipt += 1
            message.visible_at = self.world.now + visibility
            self.world.after(visibility, self._announce)
        return taken

    def delete(self, number: int, receipt: int) -> None:
        """AWS accepts an old receipt, and may or may not delete: so do we."""
        message = self.messages.get(number)
        if message and (message.receipt == receipt or self.world.chance(0.5)):
            del self.messages[number]

    def extend(self, number: int, receipt: int, seconds: float) -> None:
        message = self.messages.get(number)
        if message is None or message.visible_at <= self.world.now or message.receipt != receipt:
            response: Any = {"Error": {"Code": "MessageNotInflight", "Message": "simulated"}}
            raise ClientError(response, "ChangeMessageVisibility")
        message.visible_at = self.world.now + seconds
        self.world.after(seconds, self._announce)

    def _add(self, message: Message) -> None:
        self.messages[message.number] = message
        for look in self.on_put:
            look(message)

    def has_visible(self) -> bool:
        return any(m.visible_at <= self.world.now for m in self.messages.values())

    def when_visible(self, call: Callable[[], None]) -> None:
        """Once: when there may be something to take."""
        self._listeners.append(call)

    def _announce(self) -> None:
        listeners, self._listeners = self._listeners, []
        for call in listeners:
            call()

    def _move_dead_letters(self) -> None:
        if self.dead_letters is None:
            return
        for message in list(self.messages.values()):
            if message.visible_at <= self.world.now and message.receives >= self.max_receives:
                del self.messages[message.number]
                self.world.report(self.name, f"DEAD LETTER {message.body[:80]}")
                self.dead_letters.take_over(message)


class Sqs:
    """The methods of a boto3 client that our adapter calls. A queue's URL is its name."""

    def __init__(self, queues: dict[str, Queue], world: World) -> None:
        self._queues = queues
        self._world = world

    def create_queue(self, **request: Any) -> dict[str, Any]:
        name = request["QueueName"]
        self._queues[name] = Queue(self._world, name)
        return {"QueueUrl": name}

    def queue(self, url: str) -> Queue:
        return self._queues[url]

    def send_message_batch(self, **request: Any) -> dict[str, Any]:
        queue = self._queues[request["QueueUrl"]]
        for entry in request["Entries"]:
            delay, attributes = entry.get("DelaySeconds", 0), entry.get("MessageAttributes")
            queue.send(entry["MessageBody"], delay=delay, attributes=attributes)
        return {}

    def get_queue_url(self, **request: Any) -> dict[str, Any]:
        name = request["QueueName"]
        if name not in self._queues:
            response: Any = {"Error": {"Code": "QueueDoesNotExist", "Message": "simulated"}}
            raise ClientError(response, "GetQueueUrl")
        return {"QueueUrl": name}

    def send_message(self, **request: Any) -> dict[str, Any]:
        queue, attributes = self._queues[request["QueueUrl"]], request.get("MessageAttributes")
        queue.send(request["MessageBody"], attributes=attributes)
        return {}

    def receive_message(self, **request: Any) -> dict[str, Any]:
        queue = self._queues[request["QueueUrl"]]
        visibility = request.get("VisibilityTimeout", DEFAULT_VISIBILITY)
        taken = queue.take(request["MaxNumberOfMessages"], visibility=visibility)
        return {
            "Messages": [
                {
                    "Body": message.body,
                    "MessageId": message.message_id,
                    "ReceiptHandle": f"{message.number}/{message.receipt}",
                    "Attributes": {"SentTimestamp": str(message.sent_at_ms)},
                    "MessageAttributes": message.attributes,
                }
                for message in taken
            ]
        }

    def get_queue_attributes(self, **request: Any) -> dict[str, Any]:
        """Whether they are asked for or not."""
        queue = self._queues[request["QueueUrl"]]
        hidden = [m for m in queue.messages.values() if m.visible_at > self._world.now]
        received = sum(m.receives > 0 for m in hidden)
        depths = {
            "ApproximateNumberOfMessages": str(len(queue.messages) - len(hidden)),
            "ApproximateNumberOfMessagesNotVisible": str(received),
            "ApproximateNumberOfMessagesDelayed": str(len(hidden) - received),
        }
        return {"Attributes": depths}

    def change_message_visibility(self, **request: Any) -> dict[str, Any]:
        queue = self._queues[request["QueueUrl"]]
        queue.extend(*_receipt(request), request["VisibilityTimeout"])
        return {}

    def delete_message_batch(self, **request: Any) -> dict[str, Any]:
        for entry in request["Entries"]:
            self._queues[request["QueueUrl"]].delete(*_receipt(entry))
        return {}


def _receipt(request: dict[str, Any]) -> tuple[int, int]:
    number, _, receipt = request["ReceiptHandle"].partition("/")
    return int(number), int(receipt)
