"""How a task is named in a path."""

import pytest

from switchyard.domain.errors import UnknownTask
from switchyard.usecases.jobs.read_jobs import task_ref
from tests.builders import JOB_ID


@pytest.mark.parametrize("name", ["pages[3][a-b]", "pages%5B3%5D%5Ba-b%5D"])
def test_an_item_of_a_fan_out_is_named_with_its_keys(name: str) -> None:
    assert task_ref("acme", JOB_ID, name).task_id == "pages[3][a-b]"


@pytest.mark.parametrize(
    "name", ["__fan-pages", "pages[", "pages[]", "[3]", "pages[3][4][5]", "pages[a/b]", "a%2Fb"]
)
def test_anything_else_names_no_task(name: str) -> None:
    with pytest.raises(UnknownTask):
        task_ref("acme", JOB_ID, name)
