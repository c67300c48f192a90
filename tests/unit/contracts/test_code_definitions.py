"""A definition of kind `code` names a function or a command, and nothing that agents have."""

from typing import Any

import pytest
from pydantic import ValidationError

from switchyard.contracts.definitions import RegisteredDefinition, TaskDefinition
from switchyard.domain.access.limits import Ceilings
from switchyard.testing import ManualClock, MemoryHarness
from switchyard.usecases.definitions.put_definition import put_definition

HASH = "0123456789abcdef" * 4
FUNCTION = {"kind": "code", "function": "my_functions.text:split", "codeHash": HASH}
COMMAND = {"kind": "code", "command": ["pytest", "-q"]}


def problems(**document: Any) -> dict[str, str]:
    with pytest.raises(ValidationError) as refused:
        TaskDefinition.model_validate(document)
    return {".".join(map(str, found["loc"])): str(found["msg"]) for found in refused.value.errors()}


@pytest.mark.parametrize("document", [FUNCTION, COMMAND, FUNCTION | {"description": "Cuts."}])
def test_a_function_or_a_command_is_enough(document: dict[str, Any]) -> None:
    definition = TaskDefinition.model_validate(document)

    said = definition.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    assert said == document
    assert definition.tag is None


def test_a_definition_without_a_kind_is_an_agents() -> None:
    definition = TaskDefinition.model_validate({"description": "Do it.", "tag": "t"})

    assert definition.kind == "agent"
    assert problems() == {"description": "Field required", "tag": "Field required"}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("tag", "writer"),
        ("tools", ["Bash"]),
        ("model", "claude-haiku-5-5"),
        ("backend", "offline"),
        ("steps", [{"name": "plan", "description": "Plan it."}]),
        ("maxTurns", 3),
        ("maxCostUsd", 0.5),
        ("processOutput", "trimmed-text"),
    ],
)
def test_what_belongs_to_agents_is_refused_for_code(field: str, value: Any) -> None:
    assert "belongs to agents" in problems(**FUNCTION, **{field: value})[field]


@pytest.mark.parametrize(
    ("field", "value"),
    [("function", "a:b"), ("codeHash", HASH), ("command", ["ls"])],
)
def test_what_belongs_to_code_is_refused_for_agents(field: str, value: Any) -> None:
    found = problems(description="Do it.", tag="t", **{field: value})

    assert "belongs to code" in found[field]


@pytest.mark.parametrize(
    ("document", "place", "words"),
    [
        ({}, "", "either function or command"),
        ({"function": "a:b", "codeHash": HASH, "command": ["ls"]}, "", "either function or"),
        ({"function": "a:b"}, "", "codeHash and function belong together"),
        ({"command": ["ls"], "codeHash": HASH}, "", "codeHash and function belong together"),
        ({"function": "a.b", "codeHash": HASH}, "function", "must be package.module:name"),
        ({"function": "a:b.c", "codeHash": HASH}, "function", "must be package.module:name"),
        ({"function": "a:b", "codeHash": HASH.upper()}, "codeHash", "64 of 0-9 a-f"),
        ({"command": []}, "command", "at least 1"),
        ({"command": ["a"] * 101}, "command", "at most 100"),
        ({"command": [" "]}, "", "begins with the name of a program"),
        ({"command": ["a", "b\x00"]}, "command.1", "control character"),
    ],
)
def test_code_that_makes_no_sense_is_refused(
    document: dict[str, Any], place: str, words: str
) -> None:
    assert words in problems(kind="code", **document)[place]


def test_what_an_older_version_reads_lacks_the_role_that_it_needs() -> None:
    """An older version therefore leaves the task to a newer worker instead of asking an agent."""
    stored = RegisteredDefinition(
        **TaskDefinition.model_validate(FUNCTION).model_dump(), name="split", version=1
    )

    assert "tag" not in stored.model_dump(mode="json", exclude_none=True)


def test_a_changed_hash_is_a_new_version() -> None:
    definitions = MemoryHarness(ManualClock()).definitions
    documents = (FUNCTION, FUNCTION, FUNCTION | {"codeHash": "0" * 64})

    versions = [
        put_definition(
            "acme",
            "split",
            TaskDefinition.model_validate(document),
            definitions=definitions,
            ceilings=Ceilings(default_turns=2, max_turns=3),
        ).version
        for document in documents
    ]

    assert versions == [1, 1, 2]
