"""The heartbeat of one message, with real threads and a client that does as a test says."""

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from switchyard.sqs_heartbeat import SQSHeartbeat

SOON = 0.01


class Client:
    """Counts extensions; each may be made to fail or to wait."""

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []
        self.threads: list[threading.Thread] = []
        self.on_call: Callable[[], None] = lambda: None

    def change_message_visibility(self, **request: Any) -> None:
        self.calls.append(request)
        self.threads.append(threading.current_thread())
        self.on_call()


@pytest.fixture
def client() -> Client:
    return Client()


def a_heartbeat(client: Client, **facts: Any) -> SQSHeartbeat:
    asked = {"queue_url": "queue", "receipt_handle": "receipt", "interval_sec": SOON, **facts}
    return SQSHeartbeat(**asked, client=client)


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.002)


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"queue_url": ""}, "queue_url"),
        ({"receipt_handle": ""}, "receipt_handle"),
        ({"interval_sec": 0}, "interval_sec"),
        ({"interval_sec": -1}, "interval_sec"),
        ({"interval_sec": float("nan")}, "interval_sec"),
        ({"interval_sec": 600}, "visibility_timeout_sec"),
        ({"interval_sec": 30, "visibility_timeout_sec": 30}, "visibility_timeout_sec"),
        ({"visibility_timeout_sec": 43_201}, "visibility_timeout_sec"),
    ],
)
def test_what_cannot_work_is_refused_at_once(
    client: Client, wrong: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint):
        a_heartbeat(client, **wrong)


def test_the_interval_is_read_from_the_environment_in_milliseconds(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SQS_HEARTBEAT_INTERVAL_MS", "1500")
    assert a_heartbeat(client, interval_sec=None).interval_sec == 1.5


@pytest.mark.parametrize("text", [None, "", "soon", "1.5"])
def test_without_any_interval_it_says_which_variable_is_missing(
    client: Client, monkeypatch: pytest.MonkeyPatch, text: str | None
) -> None:
    monkeypatch.delenv("SQS_HEARTBEAT_INTERVAL_MS", raising=False)
    if text is not None:
        monkeypatch.setenv("SQS_HEARTBEAT_INTERVAL_MS", text)
    with pytest.raises(ValueError, match="SQS_HEARTBEAT_INTERVAL_MS"):
        a_heartbeat(client, interval_sec=None)


def test_it_extends_the_message_again_and_again_until_it_is_stopped(client: Client) -> None:
    heartbeat = a_heartbeat(client)
    heartbeat.start()
    until(lambda: len(client.calls) >= 3)
    assert heartbeat.running
    heartbeat.stop()
    beats = len(client.calls)

    assert not heartbeat.running
    assert client.calls[0] == {
        "QueueUrl": "queue",
        "ReceiptHandle": "receipt",
        "VisibilityTimeout": 600,
    }
    assert client.threads[0].daemon
    assert not client.threads[0].is_alive()
    time.sleep(5 * SOON)
    assert len(client.calls) == beats


def test_work_shorter_than_the_interval_needs_no_call(client: Client) -> None:
    with a_heartbeat(client, interval_sec=60) as heartbeat:
        assert heartbeat.running
    assert not heartbeat.running
    assert client.calls == []


def test_it_is_started_twice_and_beats_in_one_thread(client: Client) -> None:
    with a_heartbeat(client) as heartbeat:
        heartbeat.start()
        until(lambda: len(client.calls) >= 4)
    assert len(set(client.threads)) == 1


def test_what_was_never_started_is_stopped_and_has_no_errors(client: Client) -> None:
    heartbeat = a_heartbeat(client)
    heartbeat.stop()
    assert not heartbeat.running
    assert heartbeat.check_for_errors() is None


def test_the_first_error_is_remembered_and_the_heartbeat_ends_by_itself(client: Client) -> None:
    def fail() -> None:
        raise RuntimeError(f"failure {len(client.calls)}")

    client.on_call = fail
    heartbeat = a_heartbeat(client)
    heartbeat.start()
    until(lambda: heartbeat.check_for_errors() is not None)
    until(lambda: not client.threads[0].is_alive())

    assert not heartbeat.running
    assert str(heartbeat.check_for_errors()) == "failure 1"
    assert len(client.calls) == 1
    heartbeat.stop()
    assert str(heartbeat.check_for_errors()) == "failure 1"


def test_a_heartbeat_that_stops_itself_does_not_wait_for_itself(client: Client) -> None:
    heartbeat = a_heartbeat(client)
    client.on_call = heartbeat.stop
    heartbeat.start()
    until(lambda: bool(client.threads) and not client.threads[0].is_alive())

    assert heartbeat.check_for_errors() is None
    assert len(client.calls) == 1


def test_after_an_error_it_may_be_started_again_with_a_clean_sheet(client: Client) -> None:
    def fail_once() -> None:
        client.on_call = lambda: None
        raise RuntimeError("once")

    client.on_call = fail_once
    heartbeat = a_heartbeat(client)
    heartbeat.start()
    until(lambda: heartbeat.check_for_errors() is not None)

    with heartbeat:
        assert heartbeat.check_for_errors() is None
        until(lambda: len(client.calls) >= 3)
        assert heartbeat.running


def test_a_thread_that_outlived_its_join_neither_beats_on_nor_spoils_the_next(
    client: Client,
) -> None:
    answer = threading.Event()

    def hang_then_fail() -> None:
        client.on_call = lambda: None
        answer.wait(10)
        raise RuntimeError("late")

    client.on_call = hang_then_fail
    heartbeat = a_heartbeat(client)
    heartbeat.start()
    until(lambda: len(client.calls) == 1)
    hung = client.threads[0]
    client_stop = threading.Thread(target=heartbeat.stop)
    client_stop.start()
    until(lambda: not heartbeat.running)
    with heartbeat:
        answer.set()
        until(lambda: not hung.is_alive())
        until(lambda: len(client.calls) >= 3)
        assert heartbeat.check_for_errors() is None
        assert heartbeat.running
        assert client.threads.count(hung) == 1
    client_stop.join(10)


def test_an_exception_of_the_work_passes_through_and_ends_the_heartbeat(client: Client) -> None:
    heartbeat = a_heartbeat(client)
    with pytest.raises(KeyError), heartbeat:
        raise KeyError
    assert not heartbeat.running
