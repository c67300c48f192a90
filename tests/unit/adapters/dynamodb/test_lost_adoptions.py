"""Adopting while another process does, and over a line that loses answers."""

from collections.abc import Iterator
from typing import Any

import pytest

from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.task_additions import DynamoDbTaskAdoption
from switchyard.adapters.dynamodb.task_graph import DynamoDbTaskGraph
from switchyard.domain.errors import AnswerLost
from switchyard.domain.ids import bare_task
from switchyard.domain.jobs.adoption import Adoption, adopted_task
from switchyard.domain.jobs.plan import Pinned
from switchyard.domain.tasks.task import Payload
from switchyard.testing.transport import MemoryBlobStore
from tests.builders import NOW_MS, TENANT
from tests.contract.clouds import simulated_cloud
from tests.fakes.dynamodb.lossy_line import Line, Perform, answer_lost, not_sent
from tests.fakes.tables import state_table

BARE = bare_task(TENANT, "order-42")


def an_adoption(given: str, *, version: int = 1) -> Adoption:
    task = adopted_task(BARE, definition="scrape", pinned=Pinned(version), now_ms=NOW_MS)
    return Adoption(task, given)


class Place:
    def __init__(self, client: Any) -> None:
        self._blobs = MemoryBlobStore()
        self.line, name = Line(client), state_table(client)
        self.adoption = self._adoption(self.line, name)
        self.others = self._adoption(client, name)
        self.graph = DynamoDbTaskGraph(DynamoDbTable(client, name))
        self.payloads = DynamoDbPayloads(DynamoDbTable(client, name), self._blobs)

    def _adoption(self, client: Any, name: str) -> DynamoDbTaskAdoption:
        table = DynamoDbTable(client, name)
        return DynamoDbTaskAdoption(table, DynamoDbPayloads(table, self._blobs))

    def holds(self, adoption: Adoption) -> bool:
        data = self.payloads.read(BARE)
        return (self.graph.find(BARE), data.input) == (adoption.task, adoption.input)


@pytest.fixture
def place() -> Iterator[Place]:
    with simulated_cloud() as cloud:
        yield Place(cloud.client("dynamodb"))


@pytest.mark.parametrize("size", [1, 2_000], ids=["small", "large"])
def test_of_two_at_once_the_second_finds_it_with_its_own_input(place: Place, size: int) -> None:
    """A large input is in the bucket before anybody knows who is first."""
    theirs = an_adoption("theirs" * size, version=2)

    def too_late(perform: Perform) -> Any:
        assert place.others.adopt(theirs)
        return perform()

    place.line.write_fate = too_late
    assert not place.adoption.adopt(an_adoption("ours" * size))
    assert place.holds(theirs)


def test_the_input_of_one_who_will_be_too_late_replaces_nothing(place: Place) -> None:
    """It is in the bucket already when the first one's task is written."""
    ours = an_adoption("ours" * 2_000)

    def while_another_prepares(perform: Perform) -> Any:
        place.payloads.new_item(BARE, Payload(input="theirs" * 2_000))
        return perform()

    place.line.write_fate = while_another_prepares
    assert place.adoption.adopt(ours)
    assert place.holds(ours)


def test_an_adoption_whose_answer_was_lost_is_found_by_the_next(place: Place) -> None:
    place.line.write_fate = answer_lost
    with pytest.raises(AnswerLost):
        place.adoption.adopt(an_adoption("ours"))
    assert not place.adoption.adopt(an_adoption("again"))
    assert place.holds(an_adoption("ours"))


def test_an_adoption_that_was_lost_leaves_nothing(place: Place) -> None:
    place.line.write_fate = not_sent
    with pytest.raises(AnswerLost):
        place.adoption.adopt(an_adoption("ours"))
    assert place.graph.find(BARE) is None
    assert place.adoption.adopt(an_adoption("ours"))
