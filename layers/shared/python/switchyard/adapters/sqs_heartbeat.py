"""Keeps one SQS message hidden while it is worked on, for longer than the queue would."""

import os
import threading
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Final, Self

from switchyard.adapters import aws
from switchyard.observability import get_logger

logger = get_logger("sqs-heartbeat")

DEFAULT_VISIBILITY_TIMEOUT_EXTENSION_SEC: Final = 600
LONGEST_VISIBILITY_SEC: Final = 12 * 60 * 60  # SQS's limit
INTERVAL_MS: Final = "SQS_HEARTBEAT_INTERVAL_MS"
JOIN_MARGIN_SEC: Final = 1.0


class SQSHeartbeat:
    """Extends a message's visibility from a thread of its own, at every interval.

    Ask `check_for_errors` before an effect that must not happen twice: once it answers, the message
    may be with another consumer. Afterwards is too late, for raising then repeats what was done.
    """

    def __init__(
        self,
        queue_url: str,
        receipt_handle: str,
        interval_sec: float | None = None,
        visibility_timeout_sec: int = DEFAULT_VISIBILITY_TIMEOUT_EXTENSION_SEC,
        *,
        client: Any = None,
    ) -> None:
        """Take the interval of `SQS_HEARTBEAT_INTERVAL_MS` if none is given. Raise `ValueError`."""
        if interval_sec is None:
            interval_sec = interval_from(os.environ)
        _check(queue_url, receipt_handle, interval_sec, visibility_timeout_sec)
        self.queue_url = queue_url
        self.receipt_handle = receipt_handle
        self.interval_sec = interval_sec
        self.visibility_timeout_sec = visibility_timeout_sec
        self._sqs_client = client or aws.client("sqs")
        self._lock = threading.Lock()
        self._stop_event = threading.Event()
        self._thread: threading.Thread | None = None
        self._error: Exception | None = None
        self._running = False

    @property
    def running(self) -> bool:
        with self._lock:
            return self._running and self._thread is not None and self._thread.is_alive()

    def start(self) -> None:
        """Start; do nothing if it runs already. An error of an earlier run is forgotten."""
        with self._lock:
            if self._running:
                return
            self._stop_event = threading.Event()  # a thread that outlived its join keeps its own
            self._error = None
            self._thread = threading.Thread(
                target=self._run, args=(self._stop_event,), name="sqs-heartbeat", daemon=True
            )
            self._running = True
            self._thread.start()

    def stop(self) -> None:
        """Wait until it has stopped, unless it is the heartbeat itself that asks."""
        with self._lock:
            thread, self._thread = self._thread, None
            self._running = False
            self._stop_event.set()
        if thread is None or thread is threading.current_thread():
            return
        thread.join(timeout=self.interval_sec + JOIN_MARGIN_SEC)
        if thread.is_alive():
            logger.warning("heartbeat does not stop", extra={"queue_url": self.queue_url})

    def check_for_errors(self) -> Exception | None:
        """Return the first error, after which the visibility is not extended any more."""
        with self._lock:
            return self._error

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _run(self, stop_event: threading.Event) -> None:
        while not stop_event.wait(self.interval_sec):
            try:
                self._sqs_client.change_message_visibility(
                    QueueUrl=self.queue_url,
                    ReceiptHandle=self.receipt_handle,
                    VisibilityTimeout=self.visibility_timeout_sec,
                )
            except Exception as error:  # noqa: BLE001 - the consumer of the message has to know
                self._fail(error, stop_event)

    def _fail(self, error: Exception, stop_event: threading.Event) -> None:
        """Set the event only: a thread cannot wait for its own end."""
        logger.warning("visibility is not extended", extra={"error": str(error)})
        stop_event.set()
        with self._lock:
            if stop_event is self._stop_event:
                self._error = self._error or error
                self._running = False


def interval_from(environment: Mapping[str, str]) -> float:
    """Seconds. Raise `ValueError`."""
    text = environment.get(INTERVAL_MS, "")
    try:
        return int(text) / 1000
    except ValueError:
        raise ValueError(f"{INTERVAL_MS} is {text!r}: it should be milliseconds") from None


def _check(
    queue_url: str, receipt_handle: str, interval_sec: float, visibility_timeout_sec: int
) -> None:
    if not queue_url:
        raise ValueError("queue_url is empty")
    if not receipt_handle:
        raise ValueError("receipt_handle is empty")
    if not interval_sec > 0:
        raise ValueError(f"interval_sec is {interval_sec}: it should be positive")
    if not interval_sec < visibility_timeout_sec <= LONGEST_VISIBILITY_SEC:
        raise ValueError(
            f"visibility_timeout_sec is {visibility_timeout_sec}: it should be more than the "
            f"interval of {interval_sec:g} s, and {LONGEST_VISIBILITY_SEC} at most"
        )
