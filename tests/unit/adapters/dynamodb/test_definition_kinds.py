"""Definitions with commitments are stored so that versions that cannot check them leave them."""

import json

import pytest

from switchyard.adapters.dynamodb.definition_store import _definition, _document
from switchyard.contracts.definitions import RegisteredDefinition
from switchyard.domain.errors import NewerVersion

FILE = {"kind": "file", "path": "report.md"}
AGENT = {"name": "a", "version": 1, "tag": "x", "description": "y"}
CODE = {"name": "a", "version": 1, "kind": "code", "command": ["true"]}


@pytest.mark.parametrize("content", [AGENT, CODE])
def test_a_definition_with_commitments_has_a_kind_that_older_versions_do_not_know(
    content: dict[str, object],
) -> None:
    definition = RegisteredDefinition.model_validate(content | {"commitments": [FILE]})
    stored = _document(definition)
    assert stored["kind"] == f"committed/{definition.kind}"
    item = {"SK": "LATEST#a", "document": json.dumps(stored)}
    assert _definition(item) == definition


@pytest.mark.parametrize("content", [AGENT, CODE])
def test_others_are_stored_as_before(content: dict[str, object]) -> None:
    stored = _document(RegisteredDefinition.model_validate(content))
    assert stored.get("kind") == content.get("kind")


def test_a_kind_that_is_not_known_is_of_a_newer_version() -> None:
    item = {"SK": "LATEST#a", "document": json.dumps(AGENT | {"kind": "sworn/agent"})}
    with pytest.raises(NewerVersion):
        _definition(item)
