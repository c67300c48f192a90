"""What others send is closed; what Switchyard wrote is read whatever a newer version added."""

import importlib
import json
import typing
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from switchyard.adapters.dynamodb.values import deserialized, serialized
from switchyard.contracts.definitions import RegisteredDefinition, TaskDefinition
from switchyard.contracts.dispatch_messages import wake_up
from switchyard.contracts.events import CATALOGUE, ArrivedEvent, StoredEvent
from switchyard.contracts.events.views import EventsAsked, JobEventsAsked
from switchyard.contracts.health import HealthQuestion
from switchyard.contracts.job_document import JobDocument
from switchyard.contracts.jobs import SubmitJob
from switchyard.contracts.messages import Delivered, Malformed, parse_message
from switchyard.contracts.redrive_plans import read_plan
from switchyard.contracts.triggers import Trigger, parse_trigger_message
from switchyard.contracts.wire import Closed, Wire, Written
from switchyard.domain.errors import NewerVersion
from switchyard_cli.command_table import modules
from switchyard_worker.parent.attempts.child_outcome import ChildOutcome
from tests.compatibility import accepted
from tests.compatibility.readers import OPAQUE, read_document, read_item, read_message
from tests.compatibility.released import RELEASED

NEW = "fromTheFuture"
FREE = {
    # what producers, agents and AWS wrote, and maps whose keys are ids
    *("input", "output", "inputs", "context", "event", "tags", "pinned", "relays", "edges"),
    *("taskStatuses", "job", "document", "inputSchema", "outputSchema", "attributes"),
    *("input_schema", "output_schema", "pattern", "messageAttributes", "waitingOn"),
}
LATEST = RELEASED[-1]
MODULES = (
    *(
        *modules(),
        "lambdas.api.handler",
        "switchyard_scenarios.reporting.results",
        "switchyard.contracts.webhooks",
    ),
    *(
        "switchyard.contracts.otlp",
        "switchyard.adapters.slack.buttons",
        "switchyard_cli.actions.verify",
    ),
)


def below(model: type[Any]) -> Iterator[type[Any]]:
    for child in model.__subclasses__():
        yield child
        yield from below(child)


def mentioned(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models in a type, and in the fields of these."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
        for field in annotation.model_fields.values():
            yield from mentioned(field.annotation)
    for part in typing.get_args(annotation):
        yield from mentioned(part)


def requests_of_the_api() -> Iterator[type[BaseModel]]:
    api = importlib.import_module("lambdas.api.handler")
    for route in api.app._static_routes + api.app._dynamic_routes:
        hints = typing.get_type_hints(route.func)
        for name, hint in hints.items():
            yield from mentioned(hint) if name != "return" else ()


@pytest.fixture(scope="module", autouse=True)
def _everything_is_imported() -> None:
    for name in MODULES:
        importlib.import_module(name)


def test_every_model_is_either_closed_or_written() -> None:
    assert set(Wire.__subclasses__()) == {Closed, Written}
    for model in below(Written):
        assert model.model_config["extra"] in {"ignore", "allow"}, model
    for model in set(below(Closed)) - set(below(Written)):
        assert model.model_config["extra"] in {"forbid", "ignore"}, model


def test_a_request_to_the_api_is_closed() -> None:
    requests = set(requests_of_the_api())
    assert {SubmitJob, TaskDefinition} <= requests
    for model in requests | {JobEventsAsked, EventsAsked}:
        assert issubclass(model, Closed), f"{model.__name__} is a request, and not closed"
        assert model.model_config["extra"] == "forbid"


def test_nothing_is_closed_but_what_others_send() -> None:
    """What is stored, sent or emitted belongs to `Written`: an older version has to read it."""
    files = [m for m in below(Closed) if m.__module__.startswith("switchyard_cli.files")]
    roots = [*requests_of_the_api(), *files, EventsAsked, JobEventsAsked]
    roots += [HealthQuestion, ChildOutcome, Trigger]
    sent = {model for root in roots for model in mentioned(root)}
    ours = {m for m in below(Closed) if m.__module__.split(".")[0] != "tests"}
    wrong = ours - set(below(Written)) - sent
    assert not wrong, f"{wrong} are closed, and no request"


def test_whatever_is_read_back_is_written() -> None:
    read: set[type[BaseModel]] = {
        *accepted._SENT.values(),
        *accepted._STORED.values(),
        *CATALOGUE.values(),
    }
    read |= {model for _, model, _ in accepted._IN_ITEMS.values()} - {Trigger}
    read |= {ArrivedEvent, StoredEvent}
    for model in read:
        assert issubclass(model, Written) or model.model_config["extra"] == "ignore", model


def grown(value: Any) -> Iterator[tuple[str, Any]]:
    """The value with an unknown field added in one place, once for each place."""
    match value:
        case dict():
            yield "", {**value, NEW: {"deep": [1]}}
            for name, inner in value.items():
                if name not in FREE:
                    yield from ((f".{name}{p}", {**value, name: v}) for p, v in grown(inner))
        case list():
            for number, inner in enumerate(value):
                for place, changed in grown(inner):
                    yield f"[{number}]{place}", [*value[:number], changed, *value[number + 1 :]]


@pytest.mark.parametrize("queue", ["tasks", "dispatch", "alerts", "trigger"])
def test_a_message_with_an_unknown_field_means_the_same(queue: str) -> None:
    tried = 0
    for sent in LATEST.lines(f"messages/{queue}"):
        if "refused" in sent or '"schema"' not in sent["body"] + '"schema"' * (queue == "alerts"):
            continue
        for place, body in grown(json.loads(sent["body"])):
            now = read_message(queue, {**sent, "body": json.dumps(body)})
            assert now == read_message(queue, sent), place
            tried += 1
    assert tried


@pytest.mark.parametrize("kind", ["task/documents", "task/redrives", "quarantine", "undeliverable"])
def test_a_document_with_an_unknown_field_means_the_same(kind: str) -> None:
    assert kind not in OPAQUE
    for document in LATEST.lines(f"documents/{kind.replace('/', '-')}"):
        for place, content in grown(json.loads(document["text"])):
            now = read_document(kind, document["key"], json.dumps(content))
            assert now == read_document(kind, document["key"], document["text"]), place


def test_a_job_inside_its_document_may_have_unknown_fields_too() -> None:
    """The same model is closed when a producer sends it."""
    [line, *_] = LATEST.lines("documents/task-documents")
    document = json.loads(line["text"])
    document["job"] |= {NEW: 1}
    document["job"]["tasks"][0] |= {NEW: 1}
    assert JobDocument.read(json.dumps(document).encode()).job.tasks
    with pytest.raises(ValidationError, match="extra_forbidden"):
        SubmitJob.model_validate(document["job"])


@pytest.mark.parametrize("kind", [kind for kind, _ in LATEST.kinds("items") if kind != "once"])
def test_an_item_with_unknown_attributes_means_the_same(kind: str) -> None:
    for line in LATEST.lines(f"items/{kind}"):
        item = deserialized(line["item"])
        for place, changed in grown(item):
            now = read_item(kind, serialized(changed))
            if kind == "event":
                now["event"].pop(NEW, None)
                assert now["says"]["model"] == line["reads"]["says"]["model"], place
            else:
                assert now == read_item(kind, line["item"]), place


@pytest.mark.parametrize("kind", ["latest", "version", "trigger"])
def test_json_text_in_an_item_may_have_unknown_fields_too(kind: str) -> None:
    tried = 0
    for line in LATEST.lines(f"items/{kind}"):
        text = line["item"].get("document", {}).get("S", "{}")
        for place, document in grown(json.loads(text)) if text != "{}" else ():
            item = {**line["item"], "document": {"S": json.dumps(document)}}
            assert read_item(kind, item) == read_item(kind, line["item"]), place
            tried += 1
    assert tried


def test_a_definition_that_a_user_sends_may_not_have_unknown_fields() -> None:
    given = {"description": "d", "tag": "t", NEW: 1}
    with pytest.raises(ValidationError, match="extra_forbidden"):
        TaskDefinition.model_validate(given)
    stored = RegisteredDefinition.model_validate({**given, "name": "n", "version": 1})
    assert stored.description == "d"


NEWER_WAKE_UP = {"schema": 2, "tenantId": "acme", "jobId": "?", "shards": [1]}


def test_a_newer_schema_is_no_malformed_message() -> None:
    newer = json.dumps(NEWER_WAKE_UP)
    with pytest.raises(NewerVersion, match="schema 2 is of a newer version"):
        parse_message(Delivered(body=newer, message_id="m", sent_at_ms=0), tenant=None)
    with pytest.raises(NewerVersion, match="schema 2"):
        wake_up(newer)
    with pytest.raises(NewerVersion, match="schema 3"):
        parse_trigger_message(json.dumps(NEWER_WAKE_UP | {"schema": 3}))
    with pytest.raises(NewerVersion, match="schema 3"):
        JobDocument.read(json.dumps(NEWER_WAKE_UP | {"schema": 3}).encode())
    with pytest.raises(NewerVersion, match="schema 2"):
        read_plan(newer.encode())


@pytest.mark.parametrize("schema", [0, -1, "2", None, True, 1.5])
def test_a_schema_that_is_no_number_of_a_version_is_malformed(schema: Any) -> None:
    body = json.dumps(NEWER_WAKE_UP | {"schema": schema})
    with pytest.raises(Malformed):
        parse_message(Delivered(body=body, message_id="m", sent_at_ms=0), tenant=None)
