"""Versions that arrive in any order: only a newer one counts."""

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from switchyard_scenarios.harness.harness import Harness
from switchyard_scenarios.harness.names import Names
from switchyard_scenarios.harness.place import Place
from switchyard_scenarios.switched.leases import Work
from switchyard_scenarios.switched.reconciliation import (
    Apply,
    Change,
    Entities,
    Ignore,
    decide,
    reconciling,
)
from switchyard_scenarios.switched.switches import WorkerSwitches


@pytest.fixture
def harness(moto_place: Place) -> Harness:
    harness = Harness(place=moto_place, names=Names.numbered(1))
    harness.build()
    return harness


def entities(harness: Harness) -> Entities:
    return Entities(harness.place.client("dynamodb"), harness.names.entities)


def version(number: int) -> Change:
    return Change(entity="order", version=number, message_id=f"order-v{number}")


@pytest.mark.parametrize(
    ("known", "coming", "decision"),
    [
        (None, 1, Apply("version 1 is the first that came")),
        (None, 3, Apply("version 3 is the first that came")),
        (1, 3, Apply("version 3 is newer than 1")),
        (3, 3, Ignore("version 3 is no newer than 3")),
        (3, 1, Ignore("version 1 is no newer than 3")),
    ],
)
def test_only_a_newer_version_is_applied(
    known: int | None, coming: int, decision: Apply | Ignore
) -> None:
    assert decide(known, coming) == decision


def test_an_entity_ends_with_its_newest_version_in_whatever_order_they_came(
    harness: Harness,
) -> None:
    for number, order in enumerate(permutations((1, 2, 3))):
        for each in (*order, *order):  # and everything once more
            change = Change(entity=f"order-{number}", version=each, message_id=f"m-{each}")
            entities(harness).apply(change)
    rows = harness.entities()
    assert {row["version"] for row in rows.values()} == {3}
    assert {row["message_id"] for row in rows.values()} == {"m-3"}
    assert len(rows) == 6


class Hurried:
    """A client: between a read and the write that follows it, another write takes place."""

    def __init__(self, client: Any, meanwhile: Change, table: str) -> None:
        self._client = client
        self._meanwhile: list[Change] = [meanwhile]
        self._table = table

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def get_item(self, **request: Any) -> Any:
        answer = self._client.get_item(**request)
        while self._meanwhile:
            Entities(self._client, self._table).apply(self._meanwhile.pop())
        return answer


def test_a_version_that_somebody_overtook_is_not_written(harness: Harness) -> None:
    client = Hurried(harness.place.client("dynamodb"), version(3), harness.names.entities)
    decision = Entities(client, harness.names.entities).apply(version(2))
    assert decision == Ignore("version 2 is no newer than 3")
    assert harness.entities()["order"]["version"] == 3


def test_a_version_is_written_over_an_older_one_that_came_in_between(harness: Harness) -> None:
    client = Hurried(harness.place.client("dynamodb"), version(1), harness.names.entities)
    assert isinstance(Entities(client, harness.names.entities).apply(version(2)), Apply)
    assert harness.entities()["order"]["version"] == 2


def test_a_worker_applies_what_its_message_said(harness: Harness, tmp_path: Path) -> None:
    switches = WorkerSwitches(
        journal_file=tmp_path / "journal",
        message_status_table="",
        message_completed_table="",
        entities_table=harness.names.entities,
    )
    effect = reconciling(harness.place.client("dynamodb"), switches)
    for number in (2, 1):
        said = {"name": "handle-message", "input": {"entity": "order", "version": number}}
        effect(Work(f"order-v{number}", 1, json.dumps(said), None))
    assert harness.entities() == {
        "order": {"entity_id": "order", "version": 2, "message_id": "order-v2"}
    }
