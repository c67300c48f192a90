"""Lets messages that a stopped MiniStack left in flight be received again at its next start.

Functions that held them ended with it, and a job would wait until the visibility time-out is over.
"""

import time  # noqa: TID251 - compared with the times that MiniStack writes
from collections.abc import Callable
from typing import Any, Final

from ministack.services import sqs

Load = Callable[[dict[str, Any]], None]

OF_WORKERS: Final = "-task-queue"
"""The end of the name of the queue whose messages are hidden for as long as a task is leased: one
that came while the lease of a killed worker lasts would be deleted as needless."""


def release_messages() -> None:
    """Let MiniStack's SQS load its saved queues without anything in flight."""
    sqs.load_persisted_state = _releasing(sqs.load_persisted_state)


def _releasing(load: Load) -> Load:
    def loaded(data: dict[str, Any]) -> None:
        load(data)
        now = time.time()
        for _, queue in sqs._queues.all_items():
            held = [one for one in queue["messages"] if one.get("receive_count", 0) > 0]
            for message in [] if queue["name"].endswith(OF_WORKERS) else held:
                message["visible_at"] = min(message.get("visible_at", now), now)

    return loaded
