"""One tree of errors, which answers what a program has to know: is it worth trying again?"""

import httpx
import pytest

from switchyard.client import (
    Client,
    ClientError,
    Job,
    KeyRefused,
    NotConnected,
    NotFound,
    Refused,
    RefusedForNow,
    TooManyRequests,
    Unreachable,
)
from switchyard.testing import ManualClock
from tests.unit.cli.fakes.api import JOB_ID, KEY, URL, FakeApi, problem


def not_now() -> httpx.Response:
    refused = problem(409, "the job is being redriven")
    refused.headers["Retry-After"] = "5"
    return refused


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (problem(400, "no", tasks__0__name="is not registered"), Refused),
        (problem(401, "who?"), KeyRefused),
        (problem(403, "no"), KeyRefused),
        (problem(404, "there is no job"), NotFound),
        (problem(409, "somebody was faster"), Refused),
        (not_now(), RefusedForNow),
        (problem(429, "too fast"), TooManyRequests),
        (problem(500, "oops"), Unreachable),
        (httpx.Response(502, text="<html>"), Unreachable),
        (httpx.Response(200, text="It works!"), Unreachable),
        (httpx.ConnectError("refused"), NotConnected),
        (httpx.ReadTimeout("slow"), Unreachable),
    ],
)
def test_every_answer_that_is_none_has_its_kind(
    given: httpx.Response | Exception, kind: type[ClientError], client: Client, api: FakeApi
) -> None:
    api.on(f"GET /jobs/{JOB_ID}", given)

    with pytest.raises(ClientError) as raised:
        client.job(JOB_ID)

    assert type(raised.value) is kind


def test_a_refusal_names_every_problem_with_its_place(client: Client, api: FakeApi) -> None:
    api.on("POST /jobs", problem(400, "…", tasks__0__name="is not registered", name="too long"))

    with pytest.raises(Refused) as refused:
        client.submit(Job())

    assert [problem.path for problem in refused.value.problems] == [("tasks", 0, "name"), ("name",)]
    assert "tasks.0.name: is not registered" in str(refused.value)


@pytest.mark.parametrize(
    ("given", "tries"),
    [
        (httpx.ReadTimeout("slow"), 1),
        (problem(503, "try again"), 1),
        (httpx.ConnectError("refused"), 61),
        (not_now(), 13),
        (problem(400, "no"), 1),
    ],
    ids=["slow", "503", "not connected", "not now", "refused"],
)
def test_what_must_not_be_done_twice_is_sent_again_only_if_nothing_was_done(
    given: httpx.Response | Exception, tries: int, client: Client, api: FakeApi
) -> None:
    api.on(f"POST /jobs/{JOB_ID}/redrive", given)

    with pytest.raises(ClientError):
        client.redrive(JOB_ID)

    assert len(api.requests) == tries


def test_a_limit_is_waited_for_as_long_as_the_api_says(
    client: Client, api: FakeApi, clock: ManualClock
) -> None:
    too_many = problem(429, "too fast")
    too_many.headers["Retry-After"] = "7"
    api.on(f"GET /jobs/{JOB_ID}", too_many, problem(404, "there is no job"))
    began = clock.monotonic()

    with pytest.raises(NotFound):
        client.job(JOB_ID)

    assert clock.monotonic() - began == 7


def test_a_quota_that_is_used_up_is_not_waited_for(
    client: Client, api: FakeApi, clock: ManualClock
) -> None:
    used_up = problem(429, "the day's requests are used up")
    used_up.headers["Retry-After"] = "3600"
    api.on(f"GET /jobs/{JOB_ID}", used_up)

    with pytest.raises(TooManyRequests):
        client.job(JOB_ID)

    assert len(api.requests) == 1


@pytest.mark.parametrize("key", ["", "schlüssel", "two\nlines"])
def test_a_key_that_no_header_can_carry_is_refused_at_once(key: str) -> None:
    with pytest.raises(KeyRefused):
        Client(URL, key)


@pytest.mark.parametrize("url", ["https://\x00", "http://x:port"])
def test_a_url_that_is_none_cannot_be_connected(url: str) -> None:
    with pytest.raises(NotConnected):
        Client(url, "key")


def test_where_nothing_listens_on_this_machine_nothing_is_waited_for(
    api: FakeApi, clock: ManualClock
) -> None:
    api.on(f"GET /jobs/{JOB_ID}", httpx.ConnectError("refused"))
    with (
        Client(URL, KEY, clock=clock, transport=httpx.MockTransport(api)) as client,
        pytest.raises(NotConnected, match="start the local cloud") as raised,
    ):
        client.job(JOB_ID)

    assert len(api.requests) == 1
    assert raised.value.__cause__ is None


def test_a_local_cloud_that_has_answered_before_is_waited_for(
    api: FakeApi, clock: ManualClock
) -> None:
    there = problem(404, "there is no job")
    api.on(f"GET /jobs/{JOB_ID}", there, httpx.ConnectError("refused"), there)
    with Client(URL, KEY, clock=clock, transport=httpx.MockTransport(api)) as client:
        for _ in range(2):
            with pytest.raises(NotFound):
                client.job(JOB_ID)

    assert len(api.requests) == 3
