"""Nothing stays behind, and what does is found again."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from switchyard.adapters.system import SystemClock
from switchyard.testing import ManualClock
from switchyard_scenarios.harness import removal
from switchyard_scenarios.harness.harness import Harness
from switchyard_scenarios.harness.names import Names
from switchyard_scenarios.harness.place import Place
from switchyard_scenarios.harness.removal import remove_harness, sweep
from switchyard_scenarios.runner import Runner
from tests.scenarios.acted import Acted, gives_up

NAMES = Names.numbered(1)


class Refusing:
    """A client that refuses one operation so many times."""

    def __init__(self, client: Any, operation: str, code: str, *, times: int) -> None:
        self._client = client
        self._operation = operation
        self._code = code
        self.left = times

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._client, name)
        return partial(self._refuse, found) if name == self._operation else found

    def _refuse(self, found: Callable[..., Any], **asked: str) -> Any:
        if not self.left:
            return found(**asked)
        self.left -= 1
        raise ClientError({"Error": {"Code": self._code, "Message": ""}}, self._operation)


@pytest.fixture
def built(moto_place: Place) -> Place:
    Harness(place=moto_place, names=NAMES).build()
    return moto_place


def refusing(
    place: Place, service: str, operation: str, code: str, *, times: int = 1
) -> tuple[Place, Refusing]:
    client = Refusing(place.client(service), operation, code, times=times)

    def chosen(name: str) -> Any:
        return client if name == service else place.client(name)

    return replace(place, client=chosen), client


def queues(place: Place) -> list[str]:
    found = place.client("sqs").list_queues().get("QueueUrls", [])
    return [url.rpartition("/")[2] for url in found]


def tables(place: Place) -> list[str]:
    names: list[str] = place.client("dynamodb").list_tables()["TableNames"]
    return names


def test_what_cannot_be_removed_keeps_nothing_else_and_the_stage_can_be_found(built: Place) -> None:
    place, _ = refusing(built, "s3", "delete_bucket", "AccessDenied")
    with pytest.raises(ClientError, match="AccessDenied"):
        remove_harness(place, NAMES)
    assert tables(built) == []
    assert queues(built) == [NAMES.dead_letters]
    remove_harness(built, NAMES)
    assert queues(built) == []


def test_a_removal_that_fails_too_does_not_hide_why_the_scenario_did(
    moto_place: Place, tmp_path: Path
) -> None:
    place, _ = refusing(moto_place, "s3", "delete_bucket", "AccessDenied")
    result = Runner(place=place, folder=tmp_path, say=lambda _: None).run(Acted("one", gives_up))
    assert result.reason.startswith("not within 3 s: the queue is empty; ClientError: ")
    assert "AccessDenied" in result.reason


def test_a_table_that_is_still_being_made_is_waited_for(
    built: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(removal, "system_clock", ManualClock)
    place, client = refusing(built, "dynamodb", "delete_table", "ResourceInUseException", times=2)
    remove_harness(place, NAMES)
    assert client.left == 0
    assert tables(built) == []


def test_who_may_not_look_at_functions_can_remove_a_stage(built: Place) -> None:
    place, client = refusing(built, "lambda", "get_function", "AccessDeniedException")
    remove_harness(place, NAMES)
    assert client.left == 0
    assert queues(built) == []


def test_leftovers_that_cannot_be_removed_are_told_and_keep_nobody_from_working(
    built: Place,
) -> None:
    place, _ = refusing(built, "events", "delete_event_bus", "AccessDeniedException")
    said: list[str] = []
    later = ManualClock(SystemClock().now_ms() + 3_700_000)
    assert sweep(place, later, said.append) == []
    assert "AccessDeniedException" in said[0]
    assert sweep(built, later) == [NAMES]
