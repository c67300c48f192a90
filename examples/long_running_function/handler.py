"""A function behind a queue that takes longer than a message stays hidden.

Its role needs `sqs:ChangeMessageVisibility` on the queue, its mapping a batch size of one, and its
environment `QUEUE_URL` and `SQS_HEARTBEAT_INTERVAL_MS`, well below the queue's visibility.
"""

import json
import os
from typing import Any

from switchyard.clock import system_clock
from switchyard.observability import get_logger
from switchyard.sqs_heartbeat import SQSHeartbeat

logger = get_logger("long-running")


def handler(event: dict[str, Any], _context: object) -> None:
    (record,) = event["Records"]
    order = json.loads(record["body"])
    with SQSHeartbeat(os.environ["QUEUE_URL"], record["receiptHandle"]) as heartbeat:
        think(order)
        lost = heartbeat.check_for_errors()
        if lost:  # another receiver may have the message by now: leave the effect to it
            raise lost
        deliver(order)


def think(order: dict[str, Any]) -> None:
    system_clock().sleep(order["seconds"])


def deliver(order: dict[str, Any]) -> None:
    logger.info("order is delivered", extra={"order": order})
