"""Today's code reads what released versions wrote, and understands it as they did."""

import contextlib
from typing import Any

import httpx
import pytest

from switchyard.adapters.dynamodb.event_log import DynamoDbEventReader
from switchyard.adapters.dynamodb.job_store import DynamoDbJobStore
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.eventbridge import EventOverflow
from switchyard.adapters.s3 import S3BlobStore
from switchyard.client.connection import Connection
from switchyard.client.errors import Refused
from switchyard.contracts.changes import CancelAccepted, RedriveAccepted, TaskCancelAccepted
from switchyard.contracts.definitions import (
    DefinitionDeleted,
    DefinitionList,
    RegisteredDefinition,
)
from switchyard.contracts.events.views import EventPage, JobEventsAsked
from switchyard.contracts.jobs import JobAccepted, JobView, TasksAdded, TaskView
from switchyard.contracts.overview import Health, JobPage
from switchyard.domain.jobs.job_filters import JobFilter
from switchyard.usecases.events.read_events import read_job_events
from switchyard.usecases.jobs.list_jobs import list_jobs
from tests.builders import NOW_MS, TENANT
from tests.compatibility.readers import OPAQUE, read_document, read_item, read_message
from tests.compatibility.released import RELEASED, Released
from tests.compatibility.stage import Stage
from tests.compatibility.use_cases import small_limits
from tests.fakes.tables import BUCKET, events_table, state_table
from tests.simulation.checker import violations
from tests.simulation.cloud.dynamodb import DynamoDb
from tests.simulation.cloud.s3 import S3
from tests.simulation.run import silence

every_release = pytest.mark.parametrize("released", RELEASED, ids=str)
KINDS = [(r, kind) for r in RELEASED for kind, _ in r.kinds("items")]
MOMENTS = (
    "redriving",
    *(pytest.param(moment, marks=pytest.mark.long) for moment in ("parked", "job-cancelling")),
)
"""The recorded stages to take over; `make compatibility` takes over the others, too."""
ANSWERS: dict[tuple[str, str], type[Any]] = {
    ("GET", "/jobs"): JobPage,
    ("POST", "/jobs"): JobAccepted,
    ("GET", "/jobs/*"): JobView,
    ("GET", "/jobs/*/events"): EventPage,
    ("GET", "/jobs/*/tasks/*"): TaskView,
    ("POST", "/jobs/*/tasks"): TasksAdded,
    ("POST", "/jobs/*/cancel"): CancelAccepted,
    ("POST", "/jobs/*/tasks/*/cancel"): TaskCancelAccepted,
    ("POST", "/jobs/*/redrive"): RedriveAccepted,
    ("GET", "/events"): EventPage,
    ("GET", "/health"): Health,
    ("GET", "/task-definitions"): DefinitionList,
    ("GET", "/task-definitions/*"): RegisteredDefinition,
    ("PUT", "/task-definitions/*"): RegisteredDefinition,
    ("DELETE", "/task-definitions/*"): DefinitionDeleted,
    ("GET", "/task-definitions/*/versions/*"): RegisteredDefinition,
}


@pytest.mark.parametrize(("released", "kind"), KINDS, ids=str)
def test_an_item_means_what_it_meant(released: Released, kind: str) -> None:
    for line in released.lines(f"items/{kind}"):
        assert differences(line["reads"], read_item(kind, line["item"])) == []


@every_release
def test_a_message_means_what_it_meant(released: Released) -> None:
    for queue, lines in released.kinds("messages"):
        for sent in (line for line in lines if "refused" not in line):
            assert differences(sent["reads"], read_message(queue, sent)) == []


@every_release
def test_what_no_version_understood_is_still_refused(released: Released) -> None:
    refused = [(q, m) for q, lines in released.kinds("messages") for m in lines if "refused" in m]
    assert refused
    for queue, sent in refused:
        with pytest.raises(ValueError, match="body"):
            read_message(queue, sent)


@every_release
def test_a_document_means_what_it_meant(released: Released) -> None:
    for name, lines in released.kinds("documents"):
        kind = name.replace("task-", "task/")
        for document in lines if kind not in OPAQUE else ():
            now = read_document(kind, document["key"], document["text"])
            assert differences(document["reads"], now) == []


@pytest.mark.parametrize("moment", MOMENTS)
@every_release
def test_a_stage_taken_over_in_the_middle_ends_every_job_as_it_would_have_ended(
    released: Released, moment: str
) -> None:
    """Workers and functions of today, over the tables, queues and bucket of that version."""
    with silence(), contextlib.closing(Stage()) as stage, small_limits():
        stage.load(released.json(f"moments/{moment}"))
        stage.poison = ["{not json 1"]
        known = stage.ends()
        stage.settle()
        assert known.keys() <= stage.ends().keys()
        assert broken_promises(stage) == []
        for job, end in stage.ends().items():
            recorded = released.json("ends")[job]
            assert recorded in {end, "CANCELLED"}  # which was asked for later


def broken_promises(stage: Stage) -> list[str]:
    """Except that the log and the history of what was loaded are not complete."""
    found = [str(v) for v in violations(stage) if v.invariant not in {"I7", "I9"}]
    return [text for text in found if "by nobody: nothing" not in text]


@every_release
def test_the_client_reads_every_answer(released: Released) -> None:
    for answer in released.lines("answers"):
        connection = Connection("http://stage", "key", transport=_answering(answer))
        model = ANSWERS[answer["method"], _route(answer["path"])]
        if answer["status"] >= 400:
            with pytest.raises(Refused, match="The API refused"):
                connection.call(model, answer["method"], answer["path"])
            continue
        read = connection.call(model, answer["method"], answer["path"], extra="allow")
        said = read.model_dump(mode="json", by_alias=True)
        assert differences(answer["body"], said) == []


@every_release
def test_a_cursor_that_a_released_version_gave_leads_to_the_next_page(released: Released) -> None:
    first, second = [a for a in released.lines("answers") if "limit" in a["query"]][:2]
    table = _table_of(state_table, released.json("moments/redriving")["tables"]["state"])
    page = list_jobs(
        TENANT,
        wanted=JobFilter(),
        limit=1,
        cursor=first["body"]["cursor"],
        jobs=DynamoDbJobStore(table),
    )
    assert [job.job_id for job in page.jobs] == [job["jobId"] for job in second["body"]["jobs"]]
    events = [a for a in released.lines("answers") if a["path"].endswith("/events")]
    _first, second = events[0], events[1]
    log = _table_of(events_table, released.lines("log"))
    state = DynamoDbJobStore(table)
    [job] = [j for j in state.page(TENANT, limit=50, cursor=None).jobs if j.name == "brand"]
    more = read_job_events(
        job.ref,
        JobEventsAsked.of({"limit": "3", "cursor": second["query"]["cursor"]}),
        app="task-workflow",
        reader=DynamoDbEventReader(log, EventOverflow(S3BlobStore(S3(), BUCKET), BUCKET)),
        jobs=state,
        now_ms=NOW_MS + 10**7,
    )
    assert [e.event_id for e in more.events] == [e["eventId"] for e in second["body"]["events"]]


@every_release
def test_the_corpus_has_every_state_and_every_type_of_event(released: Released) -> None:
    accepted = released.json("accepted")
    for kind, states in accepted["states"].items():
        recorded = {line["item"]["state"]["S"] for line in released.lines(f"items/{kind}")}
        assert recorded == set(states) - {"UNKNOWN"}
    types = {line["item"]["eventType"]["S"] for line in released.lines("items/event")}
    assert types == set(accepted["events"])


def differences(then: Any, now: Any, place: str = "") -> list[str]:
    """Where today's reading is not what was read then; what today's says beside it is new."""
    if isinstance(then, dict) and isinstance(now, dict):
        missing = [f"{place}.{name} is gone" for name in then if name not in now]
        known = ((name, value) for name, value in then.items() if name in now)
        return missing + [d for n, v in known for d in differences(v, now[n], f"{place}.{n}")]
    if isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        pairs = enumerate(zip(then, now, strict=True))
        return [d for n, (a, b) in pairs for d in differences(a, b, f"{place}[{n}]")]
    return [] if then == now else [f"{place} was {then!r} and is {now!r}"]


def _answering(answer: dict[str, Any]) -> httpx.MockTransport:
    return httpx.MockTransport(lambda _: httpx.Response(int(answer["status"]), json=answer["body"]))


def _route(path: str) -> str:
    """The path with ids left out: they follow the names of collections."""
    parts = path.strip("/").split("/")
    return "/" + "/".join("*" if number % 2 else part for number, part in enumerate(parts))


def _table_of(make: Any, items: list[Any]) -> DynamoDbTable:
    dynamodb = DynamoDb()
    name = make(dynamodb, "recorded")
    for item in items:
        dynamodb.put_item(TableName=name, Item=item)
    return DynamoDbTable(dynamodb, name)
