"""Lets messages that a stopped MiniStack left in flight be received again at its next start.

Functions and workers that held them ended with it, and would otherwise keep a job waiting until
the visibility time-out is over.
"""

import time  # noqa: TID251 - compared with the times that MiniStack writes
from collections.abc import Callable
from typing import Any

from ministack.services import sqs

Load = Callable[[dict[str, Any]], None]


def release_messages() -> None:
    """Let MiniStack's SQS load its saved queues without anything in flight."""
    sqs.load_persisted_state = _releasing(sqs.load_persisted_state)


def _releasing(load: Load) -> Load:
    def loaded(data: dict[str, Any]) -> None:
        load(data)
        now = time.time()
        for _, queue in sqs._queues.all_items():
            for message in queue["messages"]:
                if message.get("receive_count", 0) > 0:  # else it is delayed, and nobody held it
                    message["visible_at"] = min(message.get("visible_at", now), now)

    return loaded
