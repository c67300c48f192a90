"""Registering a definition within the ceilings of a stage."""

import pytest

from switchyard.contracts.definitions import RegisteredDefinition, TaskDefinition
from switchyard.domain.access.limits import Ceilings
from switchyard.domain.errors import InvalidDefinition
from switchyard.testing import ManualClock, MemoryHarness
from switchyard.usecases.definitions.put_definition import put_definition

STAGE = Ceilings(default_turns=7, max_turns=20, tools=("Read",), max_timeout_ms=300_000)


def put(**facts: object) -> RegisteredDefinition:
    definition = TaskDefinition.model_validate({"description": "d", "tag": "t", **facts})
    definitions = MemoryHarness(ManualClock()).definitions
    return put_definition("acme", "d", definition, definitions=definitions, ceilings=STAGE)


def test_a_definition_that_names_no_turns_gets_the_stages_default() -> None:
    assert put().max_turns == 7
    assert put(maxTurns=10).max_turns == 10


def test_every_field_above_a_ceiling_is_named_steps_included() -> None:
    step = {"name": "s", "description": "d", "tools": ["Bash"], "timeout": 301_000}
    with pytest.raises(InvalidDefinition) as refused:
        put(maxTurns=21, tools=["Read", "Bash"], steps=[step])
    assert {problem.path for problem in refused.value.problems} == {
        ("maxTurns",),
        ("tools",),
        ("steps", 0, "tools"),
        ("steps", 0, "timeout"),
    }
