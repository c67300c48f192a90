"""docs/events.md is the contract with other systems: it says what the catalogue says."""

import json
import re
from pathlib import Path

from pydantic.alias_generators import to_camel

from switchyard.contracts.events import (
    CATALOGUE,
    DETAIL_TYPE,
    SCHEMA_VERSION,
    ArrivedEvent,
    Context,
    Event,
    JobCompleted,
    JobProperties,
    Properties,
    TaskProperties,
)
from switchyard.domain.triggers.triggers import pattern_problems
from tests.builders import JOB_ID, NOW_MS, TENANT

DOCUMENT = Path(__file__).parents[4] / "docs" / "events.md"
ROW = re.compile(r"^\| `([A-Z][A-Za-z ]+)` \| [^|]+ \| ([^|]+) \|$", re.MULTILINE)
SAID_OF_ALL = JobProperties.model_fields.keys() | TaskProperties.model_fields.keys()


def own_properties(model: type[Properties]) -> list[str]:
    return [to_camel(name) for name in model.model_fields if name not in SAID_OF_ALL]


def test_every_type_of_event_is_listed_with_its_properties() -> None:
    emitted = {name: re.findall(r"`(\w+)`", cells) for name, cells in ROW.findall(text())}
    assert emitted == {name: own_properties(model) for name, model in CATALOGUE.items()}


def text() -> str:
    return DOCUMENT.read_text(encoding="utf-8")


def test_the_event_shown_is_one_of_ours() -> None:
    shown = json.loads(re.findall(r"```json\n(.*?)```", text(), re.DOTALL)[0])
    detail = shown["detail"]
    real = Event.of(
        JobCompleted(job_id=JOB_ID, run=1, total_tasks=5, task_statuses={"scrape": "completed"}),
        tenant=TENANT,
        app="task-workflow",
        timestamp_ms=NOW_MS,
        context=Context(environment="prod", origin="dispatcher"),
    ).detail()
    said = {name: value for name, value in real.items() if not name[0].isupper()}
    assert detail.keys() == said.keys()
    assert detail["properties"].keys() == said["properties"].keys()
    assert detail["schemaVersion"] == SCHEMA_VERSION
    assert shown["detail-type"] == DETAIL_TYPE
    assert ArrivedEvent.model_validate(real | detail | {"PK": f"TENANT#{detail['tenantId']}"})


def test_the_example_rule_asks_for_events_that_there_are() -> None:
    (pattern,) = re.findall(r"--event-pattern '(.*?)'", text())
    asked = json.loads(pattern)
    assert pattern_problems(asked) == []
    assert asked["detail-type"] == [DETAIL_TYPE]
    assert set(asked["detail"]["eventType"]) <= CATALOGUE.keys()
