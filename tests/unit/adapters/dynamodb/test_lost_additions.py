"""Adding over a line that loses requests and answers."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from switchyard.adapters.dynamodb.job_intake import DynamoDbJobIntake
from switchyard.adapters.dynamodb.job_store import DynamoDbJobStore
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.task_additions import DynamoDbTaskAdditions
from switchyard.adapters.parallel import OneByOne
from switchyard.domain.errors import AnswerLost, Conflict
from switchyard.domain.jobs.additions import grouped
from switchyard.domain.jobs.chunk_plan import plan_chunk
from switchyard.domain.jobs.chunks import Chunk
from switchyard.domain.jobs.plan import Pinned
from switchyard.testing.transport import MemoryBlobStore
from tests.builders import JOB, NOW_MS, a_plan, specs
from tests.contract.clouds import simulated_cloud
from tests.fakes.dynamodb.lossy_line import Line, answer_lost, not_sent
from tests.fakes.tables import state_table


class Place:
    def __init__(self, client: Any) -> None:
        self.line, name = Line(client), state_table(client)
        table = DynamoDbTable(self.line, name, parallel=OneByOne())
        payloads = DynamoDbPayloads(table, MemoryBlobStore())
        intake, plan = DynamoDbJobIntake(table, payloads), a_plan({"a": []})
        intake.write(plan)
        intake.open(plan, now_ms=NOW_MS)
        self.jobs = DynamoDbJobStore(table)
        self.additions = DynamoDbTaskAdditions(table, payloads)

    def a_chunk(self, name: str, *, at_ms: int = NOW_MS) -> Chunk:
        (group,) = grouped(specs({name: ["a"]}), number=1)
        seen = self.additions.chunk_context(JOB, group.parents)
        chunk = plan_chunk(group, seen, pinned={"scrape": Pinned(1)}, at_ms=at_ms)
        assert chunk is not None
        return chunk

    def task_ids(self) -> set[str]:
        return {task.ref.task_id for task in self.jobs.picture(JOB).visible_tasks}


@pytest.fixture
def place() -> Iterator[Place]:
    with simulated_cloud() as cloud:
        yield Place(cloud.client("dynamodb"))


def test_an_addition_whose_answer_was_lost_is_found_in_the_job(place: Place) -> None:
    place.line.write_fate = answer_lost
    assert place.additions.add(place.a_chunk("new"))
    assert place.task_ids() == {"a", "new"}


def test_an_addition_that_was_lost_can_be_asked_for_again(place: Place) -> None:
    chunk = place.a_chunk("new")
    place.line.write_fate = not_sent
    with pytest.raises(AnswerLost):
        place.additions.add(chunk)
    assert place.task_ids() == {"a"}
    assert place.additions.add(chunk)


@pytest.mark.parametrize("theirs", ["new", "other"])
def test_what_another_request_added_is_not_taken_for_ours(place: Place, theirs: str) -> None:
    ours = place.a_chunk("new")
    assert place.additions.add(place.a_chunk(theirs, at_ms=NOW_MS + 1))
    place.line.write_fate = answer_lost
    assert not place.additions.add(ours)


def too_large(perform: Callable[[], Any]) -> Any:
    said: Any = {"Error": {"Code": "ValidationException", "Message": "more than 4 MB"}}
    raise ClientError(said, "TransactWriteItems")


def test_what_is_too_much_for_one_write_is_refused_by_name(place: Place) -> None:
    place.line.write_fate = too_large
    with pytest.raises(Conflict, match="new: what is written for them"):
        place.additions.add(place.a_chunk("new"))
    assert place.task_ids() == {"a"}


def test_many_names_of_a_parent_are_not_sent_again(place: Place) -> None:
    """A transaction takes 4 MB, and has room for 45 parents."""
    said: list[str] = []

    def listen(perform: Any) -> Any:
        said.append(str(perform.keywords))
        return perform()

    place.additions.add(place.a_chunk("earlier"))
    chunk = place.a_chunk("new")
    place.line.write_fate = listen
    assert place.additions.add(chunk)
    assert "earlier" not in said[0]
