"""A page of definitions holds no more than an answer can."""

import json

import pytest

from switchyard.contracts.definitions import DefinitionList
from switchyard.domain.errors import Rejected
from switchyard.testing.registry import MemoryDefinitionStore
from switchyard.usecases.definitions.read_definitions import list_definitions
from tests.builders import TENANT, a_definition

LAMBDA_ANSWER_BYTES = 6 * 1024 * 1024


def registered(count: int, description: str) -> MemoryDefinitionStore:
    store = MemoryDefinitionStore()
    for number in range(count):
        store.put(TENANT, f"d{number:03}", a_definition(description=description))
    return store


def pages(store: MemoryDefinitionStore) -> list[DefinitionList]:
    found = [list_definitions(TENANT, cursor=None, definitions=store)]
    while found[-1].cursor is not None:
        found.append(list_definitions(TENANT, cursor=found[-1].cursor, definitions=store))
    return found


def test_a_few_are_one_page() -> None:
    (page,) = pages(registered(3, "Read."))
    assert [one.name for one in page.definitions] == ["d000", "d001", "d002"]


@pytest.mark.slow
@pytest.mark.parametrize("letter", ["\\", "ü"])
def test_many_are_pages_that_a_function_can_answer(letter: str) -> None:
    found = pages(registered(120, letter * 20_000))
    assert len(found) > 1
    names = [one.name for page in found for one in page.definitions]
    assert names == [f"d{number:03}" for number in range(120)]
    for page in found:
        body = json.dumps(page.model_dump(mode="json", by_alias=True))
        assert len(json.dumps({"body": body})) <= LAMBDA_ANSWER_BYTES


def test_a_cursor_that_no_page_has_given_is_refused() -> None:
    with pytest.raises(Rejected, match="cursor"):
        list_definitions(TENANT, cursor="a b", definitions=registered(1, "x"))
