"""Collects what the bus and the queues would deliver, where it is sent."""

import json
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from switchyard.contracts.dispatch_messages import WAKING_EVENTS
from switchyard.contracts.messages import TaskMessage
from switchyard.domain.ids import TaskRef


@dataclass
class WakeUps:
    dispatcher_queue_urls: frozenset[str]
    """The URLs of the queues of tasks and of jobs."""
    _for_dispatcher: deque[str] = field(default_factory=deque)
    _for_workers: list[TaskRef] = field(default_factory=list)

    def hear_event(self, source: str, detail: dict[str, Any]) -> None:
        if detail["eventType"] in WAKING_EVENTS:
            self._for_dispatcher.append(json.dumps({"source": source, "detail": detail}))

    def hear_message(self, queue_url: str, body: str) -> None:
        if queue_url in self.dispatcher_queue_urls:
            self._for_dispatcher.append(body)
        else:
            self._for_workers.append(TaskMessage.model_validate_json(body).ref)

    def for_dispatcher(self, *, at_most: int) -> list[str]:
        """The bodies of messages, in the order of their sending."""
        waiting = self._for_dispatcher
        return [waiting.popleft() for _ in range(min(at_most, len(waiting)))]

    def for_workers(self) -> list[TaskRef]:
        heard, self._for_workers = self._for_workers, []
        return heard


@dataclass(frozen=True)
class OverheardEvents:
    """EventBridge, as our adapter calls it."""

    client: Any
    wake_ups: WakeUps

    def put_events(self, **request: Any) -> Any:
        for entry in request["Entries"]:
            self.wake_ups.hear_event(entry["Source"], json.loads(entry["Detail"]))
        return self.client.put_events(**request)


@dataclass(frozen=True)
class OverheardSqs:
    """SQS, as our adapters call it."""

    client: Any
    wake_ups: WakeUps

    def send_message_batch(self, **request: Any) -> Any:
        for entry in request["Entries"]:
            self.wake_ups.hear_message(request["QueueUrl"], entry["MessageBody"])
        return self.client.send_message_batch(**request)
