"""The calls about work queues: what is sent, and where."""

from collections.abc import Iterator

import httpx
import pytest

from switchyard.client import Client, Job, UnusableJob
from switchyard.client.connection import Connection
from switchyard.client.errors import NotFound
from switchyard.client.routes import Routes
from switchyard.contracts.jobs import KEY_HEADER
from switchyard.contracts.scheduling.work_queues import (
    ChangeQueue,
    CreateQueue,
    DeadLetterPage,
    QueueDeleted,
    QueueList,
)
from tests.unit.cli.fakes.api import KEY, FakeApi, answer, problem
from tests.unit.cli.jobs.test_queue_items import ACCEPTED, DEAD_LETTERS, FAILED, ITEMS
from tests.unit.cli.jobs.test_queues import BUILDS, details
from tests.unit.client.conftest import FAR_URL


@pytest.fixture
def routes(api: FakeApi) -> Iterator[Routes]:
    connection = Connection(FAR_URL, KEY, transport=httpx.MockTransport(api))
    yield Routes(connection)
    connection.close()


def test_a_queue_is_created_listed_shown_and_deleted(routes: Routes, api: FakeApi) -> None:
    api.on("POST /queues", answer(BUILDS, 201))
    api.on("GET /queues", answer(QueueList(queues=(BUILDS,))))
    api.on("GET /queues/default/builds", answer(details()))
    api.on("DELETE /queues/default/builds", answer(QueueDeleted(name="default/builds")))

    assert routes.create_queue(CreateQueue(name="default/builds", lease="90s")) == BUILDS
    assert api.sent("POST /queues") == [{"name": "default/builds", "lease": 90_000}]
    assert routes.queues("behind").queues == (BUILDS,)
    assert api.requests[-1].url.params["cursor"] == "behind"
    assert routes.queue("default/builds").depth == 1_200
    assert routes.delete_queue("default/builds").name == "default/builds"


def test_a_change_sends_null_where_it_is_said_and_nothing_else(
    routes: Routes, api: FakeApi
) -> None:
    api.on("PATCH /queues/default/builds", answer(BUILDS))

    routes.change_queue("default/builds", ChangeQueue(lease=None, max_attempts=2))

    assert api.sent("PATCH /queues/default/builds") == [{"lease": None, "maxAttempts": 2}]


def test_dead_letters_are_read_page_by_page(routes: Routes, api: FakeApi) -> None:
    api.on(DEAD_LETTERS, answer(DeadLetterPage(dead_letters=(FAILED,), cursor="older")))

    page = routes.dead_letters("default/builds", limit=5, cursor="here")

    assert (page.dead_letters, page.cursor) == ((FAILED,), "older")
    assert dict(api.requests[0].url.params) == {"limit": "5", "cursor": "here"}


def test_a_queue_that_is_not_there_is_not_found(routes: Routes, api: FakeApi) -> None:
    api.on("GET /queues/default/builds", problem(404, "there is no queue 'default/builds'"))

    with pytest.raises(NotFound, match="there is no queue"):
        routes.queue("default/builds")


def test_however_often_an_item_is_sent_it_is_one(client: Client, api: FakeApi) -> None:
    api.on(ITEMS, httpx.ReadTimeout("slow"), answer(ACCEPTED, 201))

    accepted = client.put("default/builds", "build", input={"n": 1}, metadata={"ticket": "42"})

    assert accepted.queue == "default/builds"
    first, second = (request.headers[KEY_HEADER] for request in api.requests)
    assert first == second
    item = {"definition": "build", "input": {"n": 1}, "metadata": {"ticket": "42"}}
    assert api.sent(ITEMS) == [item, item]


def test_an_item_that_no_api_takes_is_not_sent(client: Client, api: FakeApi) -> None:
    with pytest.raises(UnusableJob, match="priority"):
        client.put("default/builds", "build", priority="urgent")
    assert api.requests == []


def test_a_job_and_its_tasks_name_their_queues() -> None:
    job = Job("brand", queue="default/builds", priority="low")
    job.task("scrape", queue="default", priority="high", metadata={"ticket": "42"})

    sent = job.submission()

    assert (sent.queue, sent.priority) == ("default/builds", "low")
    (task,) = sent.tasks
    assert (task.queue, task.priority, task.metadata) == ("default", "high", {"ticket": "42"})
