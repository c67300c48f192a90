"""Items of a fan-out in the state table."""

import pytest

from switchyard.adapters.dynamodb.items import task_from, task_item
from tests.builders import JOB, a_task


@pytest.mark.parametrize("name", ["review[0]", "pages[3][a]", "__fan-review", "__fan-review[2]"])
def test_a_version_that_knows_no_fan_outs_leaves_them_alone(name: str) -> None:
    item = task_item(a_task(name))
    assert item["rule"] == "newer/all_completed"
    assert task_from(item, JOB) == a_task(name)


def test_other_tasks_are_stored_as_they_were() -> None:
    assert task_item(a_task("review"))["rule"] == "all_completed"
