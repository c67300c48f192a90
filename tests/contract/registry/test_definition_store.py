"""The contract of `DefinitionStore`."""

import pytest

from switchyard.domain.errors import UnknownDefinition
from tests.builders import NOW_MS, TENANT, a_definition
from tests.contract.conftest import Backend


def test_a_definition_keeps_its_version_until_it_says_something_new(backend: Backend) -> None:
    first = backend.definitions.put(TENANT, "scrape", a_definition())
    same = backend.definitions.put(TENANT, "scrape", a_definition())
    changed = backend.definitions.put(TENANT, "scrape", a_definition(max_turns=3))
    assert (first.version, same.version, changed.version) == (1, 1, 2)
    assert backend.definitions.version(TENANT, "scrape", 1) == first
    assert backend.definitions.latest(TENANT, ["scrape", "nobody"]) == {"scrape": changed}


@pytest.mark.parametrize("other", [True, 1.0])
def test_what_python_takes_for_the_same_is_something_new(backend: Backend, other: object) -> None:
    backend.definitions.put(TENANT, "scrape", a_definition(output_schema={"const": 1}))
    changed = backend.definitions.put(
        TENANT, "scrape", a_definition(output_schema={"const": other})
    )
    assert (changed.version, repr(changed.output_schema)) == (2, repr({"const": other}))


def test_definitions_with_schemas_come_back_as_they_were(backend: Backend) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "number", "minimum": 0.5}}}
    stored = backend.definitions.put(TENANT, "b", a_definition(output_schema=schema))
    backend.definitions.put(TENANT, "a", a_definition())
    assert [d.name for d in backend.definitions.all(TENANT)] == ["a", "b"]
    assert [*backend.definitions.all(TENANT)][1] == stored
    assert [*backend.definitions.all("other")] == []


def test_definitions_are_listed_from_any_name_on(backend: Backend) -> None:
    for name in ("a", "b", "c"):
        backend.definitions.put(TENANT, name, a_definition())
    backend.definitions.delete(TENANT, "b", now_ms=NOW_MS)
    for after, listed in (("a", ["c"]), ("b", ["c"]), ("aa", ["c"]), ("c", []), ("", ["a", "c"])):
        found = backend.definitions.all(TENANT, after=after or None)
        assert [definition.name for definition in found] == listed


def test_definitions_with_steps_come_back_as_they_were(backend: Backend) -> None:
    steps = [
        {"name": "plan", "description": "Plan.", "outputSchema": {"enum": [None, 0.5]}},
        {"name": "write", "description": "{{steps.plan.output}}", "tools": []},
    ]
    definition = a_definition(
        steps=steps, max_cost_usd=0.25, input_schema={"const": None}, health={"repeats": 3}
    )
    stored = backend.definitions.put(TENANT, "b", definition)
    assert backend.definitions.version(TENANT, "b", 1) == stored
    assert stored.content == definition
    assert backend.definitions.put(TENANT, "b", definition).version == 1


def test_a_version_that_never_was_is_unknown(backend: Backend) -> None:
    backend.definitions.put(TENANT, "scrape", a_definition())
    with pytest.raises(UnknownDefinition):
        backend.definitions.version(TENANT, "scrape", 2)


def test_a_deleted_definition_is_neither_listed_nor_the_latest(backend: Backend) -> None:
    backend.definitions.put(TENANT, "kept", a_definition())
    last = backend.definitions.put(TENANT, "scrape", a_definition())
    assert backend.definitions.delete(TENANT, "scrape", now_ms=NOW_MS) == last
    assert [found.name for found in backend.definitions.all(TENANT)] == ["kept"]
    assert backend.definitions.latest(TENANT, ["scrape", "kept"]).keys() == {"kept"}


def test_versions_outlive_their_definition(backend: Backend) -> None:
    first = backend.definitions.put(TENANT, "scrape", a_definition())
    backend.definitions.delete(TENANT, "scrape", now_ms=NOW_MS)
    assert backend.definitions.version(TENANT, "scrape", 1) == first


def test_what_was_deleted_goes_on_with_the_next_number(backend: Backend) -> None:
    backend.definitions.put(TENANT, "scrape", a_definition())
    backend.definitions.delete(TENANT, "scrape", now_ms=NOW_MS)
    again = backend.definitions.put(TENANT, "scrape", a_definition())
    assert again.version == 2
    assert backend.definitions.latest(TENANT, ["scrape"]) == {"scrape": again}
    assert backend.definitions.put(TENANT, "scrape", a_definition()) == again


def test_what_is_not_registered_cannot_be_deleted(backend: Backend) -> None:
    backend.definitions.put(TENANT, "scrape", a_definition())
    with pytest.raises(UnknownDefinition):
        backend.definitions.delete("other", "scrape", now_ms=NOW_MS)
    backend.definitions.delete(TENANT, "scrape", now_ms=NOW_MS)
    with pytest.raises(UnknownDefinition):
        backend.definitions.delete(TENANT, "scrape", now_ms=NOW_MS)
