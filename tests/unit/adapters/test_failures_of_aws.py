"""What AWS may answer when it does not do what it was asked."""

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import (
    ClientError,
    ConnectionClosedError,
    ConnectTimeoutError,
    EndpointConnectionError,
    HTTPClientError,
    NoCredentialsError,
    ReadTimeoutError,
    SSLError,
)

from switchyard.adapters import pauses
from switchyard.adapters.aws import call
from switchyard.adapters.dynamodb.table import DynamoDbTable, Update
from switchyard.adapters.eventbridge import EventBridgeBus, EventOverflow
from switchyard.contracts.events import Context, Event, JobCreated
from switchyard.domain.backoff import Backoff
from switchyard.domain.errors import AnswerLost, EventsNotAccepted, Throttled, Unavailable
from switchyard.testing.transport import MemoryBlobStore
from tests.builders import JOB_ID

ENDPOINT = "http://127.0.0.1:1"


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pauses, "BACKOFF", Backoff(first=0.0, longest=0.0))


class Answers:
    """A client whose one operation answers what it is told to, in order."""

    def __init__(self, operation: str, *answers: Any) -> None:
        self.requests: list[dict[str, Any]] = []
        self._answers = list(answers)
        setattr(self, operation, self._answer)

    def _answer(self, **request: Any) -> Any:
        self.requests.append(request)
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def an_error(code: str, **more: Any) -> ClientError:
    response: Any = {"Error": {"Code": code, "Message": "m"}, **more}
    return ClientError(response, "Operation")


def cancelled(*codes: str) -> ClientError:
    return an_error(
        "TransactionCanceledException", CancellationReasons=[{"Code": c} for c in codes]
    )


def transact(*answers: Any) -> bool:
    table = DynamoDbTable(Answers("transact_write_items", *answers), "t")
    return table.transact((("p", "s"), Update(set={"a": 1}, condition="attribute_exists(#PK)")))


def test_a_transaction_whose_condition_failed_was_refused() -> None:
    assert transact({})
    assert not transact(cancelled("None", "ConditionalCheckFailed"))


@pytest.mark.parametrize("code", ["TransactionConflict", "ThrottlingError"])
def test_a_transaction_that_met_another_may_be_tried_again(code: str) -> None:
    with pytest.raises(Unavailable):
        transact(cancelled("None", code))


@pytest.mark.parametrize(
    "error",
    [
        an_error("InvalidParameterValue"),
        EndpointConnectionError(endpoint_url=ENDPOINT),
        ConnectTimeoutError(endpoint_url=ENDPOINT),
        NoCredentialsError(),
    ],
)
def test_what_was_certainly_not_done_may_be_tried_again(error: Exception) -> None:
    with pytest.raises(Unavailable) as raised:
        call(raising(error))
    assert type(raised.value) is Unavailable


@pytest.mark.parametrize(
    "error",
    [
        an_error("ProvisionedThroughputExceededException"),
        an_error("ThrottlingException", ResponseMetadata={"HTTPStatusCode": 400}),
    ],
)
def test_throttling_is_distinguished_from_other_errors(error: Exception) -> None:
    with pytest.raises(Throttled):
        call(raising(error))


@pytest.mark.parametrize(
    "error",
    [
        an_error("InternalServerError"),
        an_error("TransactionInProgressException"),
        an_error("Whatever", ResponseMetadata={"HTTPStatusCode": 500}),
        an_error("ServiceUnavailable", ResponseMetadata={"HTTPStatusCode": 503}),
        ReadTimeoutError(endpoint_url=ENDPOINT),
        ConnectionClosedError(endpoint_url=ENDPOINT),
        HTTPClientError(error="reset"),
        SSLError(endpoint_url=ENDPOINT, error=OSError("bad record")),
    ],
)
def test_what_may_have_been_done_says_so(error: Exception) -> None:
    with pytest.raises(AnswerLost):
        call(raising(error))


@pytest.mark.parametrize("code", ["ValidationException", "AccessDeniedException"])
def test_our_own_mistakes_stay_visible(code: str) -> None:
    with pytest.raises(ClientError):
        call(raising(an_error(code)))


def raising(error: Exception) -> Callable[[], None]:
    def operation() -> None:
        raise error

    return operation


def some_events(count: int, *, size: int = 10) -> list[Event]:
    return [
        Event.of(
            JobCreated(job_id=JOB_ID, request_id="x" * size, run=n, tasks=(), total_tasks=1),
            tenant="acme",
            app="a",
            timestamp_ms=n,
            context=Context(environment="test", origin="test"),
        )
        for n in range(1, count + 1)
    ]


def a_bus(client: Any) -> EventBridgeBus:
    return EventBridgeBus(client, "harness", EventOverflow(MemoryBlobStore(), "bucket"))


def accepted(count: int, *, refused: int = 0) -> dict[str, Any]:
    results = [{"ErrorCode": "Throttled"}] * refused + [{"EventId": "e"}] * (count - refused)
    return {"FailedEntryCount": refused, "Entries": results}


def test_only_refused_events_are_sent_again() -> None:
    client = Answers("put_events", accepted(3, refused=1), accepted(1))
    a_bus(client).put(some_events(3))
    first, second = (request["Entries"] for request in client.requests)
    assert second == first[:1]


def test_events_that_are_never_accepted_are_not_lost_silently() -> None:
    client = Answers("put_events", *[accepted(1, refused=1)] * 4)
    with pytest.raises(EventsNotAccepted):
        a_bus(client).put(some_events(1))


def test_a_call_holds_at_most_ten_events_and_what_fits() -> None:
    client = Answers("put_events", *[accepted(n) for n in (10, 2)])
    a_bus(client).put(some_events(12))
    assert [len(request["Entries"]) for request in client.requests] == [10, 2]
    large = Answers("put_events", accepted(2), accepted(1))
    a_bus(large).put(some_events(3, size=100_000))
    assert [len(request["Entries"]) for request in large.requests] == [2, 1]
