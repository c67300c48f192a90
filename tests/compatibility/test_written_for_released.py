"""Released versions read what today's code writes: during a rollout both run side by side."""

import contextlib
import json
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import pytest

from switchyard.contracts.messages import TaskMessage
from tests.compatibility.accepted import refusals
from tests.compatibility.novelties import Watch
from tests.compatibility.readers import NO_LONGER_WRITTEN, PARKED
from tests.compatibility.recording import Recording, record
from tests.compatibility.released import RELEASED, Released
from tests.compatibility.stage import Stage
from tests.compatibility.use_cases import first_jobs
from tests.simulation.run import silence

every_release = pytest.mark.parametrize("released", RELEASED, ids=str)


@pytest.fixture(scope="module")
def recording() -> Recording:
    return record(storms=False)


@every_release
def test_a_released_version_reads_what_is_written_today(
    released: Released, recording: Recording
) -> None:
    assert list(refusals(released.json("accepted"), recording.watch)) == []


@every_release
def test_what_is_written_today_is_of_every_kind_that_was_recorded(
    released: Released, recording: Recording
) -> None:
    """Otherwise nobody would have looked at that kind."""
    watch = recording.watch
    assert {kind for kind, _ in released.kinds("items")} <= watch.items.found.keys()
    assert {queue for queue, _ in released.kinds("messages")} <= watch.messages.found.keys()
    kinds = {kind.replace("/", "-") for kind in watch.documents.found}
    recorded = {kind for kind, _ in released.kinds("documents")}
    assert recorded - NO_LONGER_WRITTEN <= kinds
    assert PARKED in kinds


def test_a_field_that_is_added_to_a_message_is_found() -> None:
    """0.1.0 parks and deletes a wake-up with a field that it does not know."""
    plain = TaskMessage.model_dump_json

    def planted(message: TaskMessage, **how: Any) -> str:
        return json.dumps(json.loads(plain(message, **how)) | {"priority": 5})

    watch = Watch()
    with (
        silence(),
        patch.object(TaskMessage, "model_dump_json", planted),
        contextlib.closing(Stage()) as stage,
    ):
        watch.over(stage)
        first_jobs(stage)
        stage.pass_time(5.0)
    found = list(refusals(RELEASED[0].json("accepted"), watch))
    assert any("tasks" in text and "'priority' was unexpected" in text for text in found)


def planted(recording: Recording) -> Iterator[tuple[str, Any, Any]]:
    """What a careless change would write, and what is expected to be said of it."""
    tasks, jobs = (recording.watch.items.found[kind] for kind in ("task", "job"))
    settled = next(item for item in tasks if "outcome" in item)
    usage = settled["outcome"]["M"]["usage"]["M"]
    yield "'outcome.usage.gpu_seconds'", usage, {"gpu_seconds": {"N": "1"}}
    yield "the state 'PARKED'", tasks[0], {"state": {"S": "PARKED"}}
    noted = next(item for item in jobs if "notify" in item)
    yield "'notify.email'", noted["notify"]["M"], {"email": {"S": "a@example.com"}}
    definition = recording.watch.items.found["latest"][0]
    grown = json.loads(definition["document"]["S"]) | {"urgency": 5}
    yield "'urgency' was unexpected", definition, {"document": {"S": json.dumps(grown)}}


@pytest.mark.parametrize("number", range(4))
def test_what_a_released_version_would_not_read_is_found(number: int, recording: Recording) -> None:
    expected, place, change = list(planted(recording))[number]
    before = dict(place)
    place.update(change)
    try:
        found = list(refusals(RELEASED[0].json("accepted"), recording.watch))
    finally:
        place.clear()
        place.update(before)
    assert any(expected in text for text in found), found
