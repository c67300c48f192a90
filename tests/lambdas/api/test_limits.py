"""How many requests a key may make, as API Gateway sees it."""

import pytest

from switchyard.adapters import aws
from switchyard.adapters.system import SystemClock
from tests.builders import NOW_MS
from tests.lambdas.api.test_api import Api

pytestmark = pytest.mark.usefixtures("cloud")


@pytest.fixture(autouse=True)
def time_stands_still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SystemClock, "now_ms", lambda _clock: NOW_MS)


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Api:
    monkeypatch.setenv("REQUESTS_PER_SECOND", "1")
    monkeypatch.setenv("REQUESTS_AT_ONCE", "2")
    monkeypatch.setenv("REQUESTS_PER_DAY", "1000000")
    return Api()


def test_too_many_at_once_are_refused_with_the_time_to_wait(api: Api) -> None:
    answers = [api("GET", "/jobs")[0] for _ in range(4)]
    assert answers == [200, 200, 429, 429]
    _, problem = api("GET", "/jobs")
    assert (problem["status"], problem["title"]) == (429, "Too Many Requests")
    assert problem["detail"] == "a key may make 1 requests a second, and 2 at once"
    assert api.headers["Retry-After"] == "1"
    assert api.headers["Content-Type"] == "application/problem+json"


def test_what_is_malformed_and_what_is_unknown_counts_too(api: Api) -> None:
    assert api("POST", "/jobs", "{not json")[0] == 400
    assert api("GET", "/jobs/nonsense")[0] == 404
    assert api("GET", "/jobs")[0] == 429


def test_a_days_requests_end_at_midnight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REQUESTS_PER_DAY", "1")
    api = Api()
    assert api("GET", "/jobs")[0] == 200
    status, problem = api("GET", "/jobs")
    assert status == 429
    assert problem["detail"] == (
        "a key may make 1 requests a day; the next day begins at 2027-01-16T00:00:00Z"
    )
    assert int(api.headers["Retry-After"]) == 16 * 3600


def test_each_key_is_counted_by_itself(api: Api) -> None:
    assert [api("GET", "/jobs")[0] for _ in range(3)] == [200, 200, 429]
    assert api("GET", "/jobs", tenant="other")[0] == 200


def test_what_cannot_be_counted_is_let_in(api: Api, caplog: pytest.LogCaptureFixture) -> None:
    aws.client("dynamodb").delete_table(TableName="state-test")
    assert api("GET", "/task-definitions")[0] == 200
    assert "request was let in uncounted" in caplog.messages
