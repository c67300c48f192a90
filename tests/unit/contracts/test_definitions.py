"""A definition's steps fit together, or are refused in words."""

from typing import Any

import pytest
from pydantic import ValidationError

from switchyard.contracts.definitions import RegisteredDefinition, TaskDefinition
from switchyard.contracts.definitions.steps import MAX_STEPS, output_file
from switchyard.domain.health.health import OwnLimits
from switchyard.testing import ManualClock, MemoryHarness

PLAN = {"name": "plan", "description": "Plan it."}
WRITE = {"name": "write", "description": "Write {{steps.plan.output.title}}."}


def a_document(**facts: Any) -> dict[str, Any]:
    return {"description": "A report.", "tag": "writer", **facts}


def test_steps_are_taken_in_their_order() -> None:
    definition = TaskDefinition.model_validate(a_document(steps=[PLAN, WRITE]))

    assert [step.name for step in definition.steps] == ["plan", "write"]
    assert output_file(definition.steps[0], last=False) == "plan.json"
    assert output_file(definition.steps[1], last=True) == "task-result.json"


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"steps": [WRITE, PLAN]}, "asks for the output of 'plan', no step before it"),
        ({"steps": [PLAN, PLAN]}, "two steps have the same name"),
        ({"steps": [PLAN | {"outputFile": "task-result.json"}, WRITE]}, "task-result.json"),
        (
            {"steps": [PLAN, WRITE | {"outputFile": "plan.json"}]},
            "two steps write the same file",
        ),
        ({"steps": [PLAN], "outputSchema": {}}, "belong to a step"),
        ({"steps": [PLAN], "processOutput": "without-nulls"}, "belong to a step"),
        ({"steps": [PLAN | {"name": "../plan"}]}, "1 to 64"),
        ({"steps": [PLAN | {"name": "plan\n"}]}, "1 to 64"),
        ({"steps": [PLAN | {"outputFile": "../x.json"}]}, "end in .json"),
        ({"steps": [PLAN | {"outputFile": ".json"}]}, "end in .json"),
        ({"steps": [PLAN | {"timeout": 900_001}]}, "milliseconds, from 1,000 to 900,000;"),
        ({"steps": [PLAN | {"timeout": 999}]}, "milliseconds, from 1,000 to 900,000;"),
        ({"timeout": 300}, "milliseconds, from 1,000 to 43,200,000; 5 minutes are 300000"),
        ({"timeout": "5 minutes"}, "milliseconds, from 1,000 to 43,200,000;"),
        ({"steps": [PLAN | {"outputSchema": {"type": 7}}]}, "not a JSON Schema"),
        ({"steps": [PLAN | {"name": f"s{n}"} for n in range(MAX_STEPS + 1)]}, "at most 20"),
        ({"inputSchema": {"type": "colour"}}, "not a JSON Schema"),
        ({"maxCostUsd": 0}, "greater than"),
        ({"maxCostUsd": 1e-200}, "greater than"),
        ({"maxCostUsd": float("nan")}, "greater than|finite"),
        ({"processOutput": "os:system"}, "1 to 64"),
        ({"processOutput": "package.module"}, "1 to 64"),
    ],
)
def test_what_does_not_fit_is_refused(facts: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        TaskDefinition.model_validate(a_document(**facts))


def test_a_definition_of_before_there_were_steps_keeps_its_version() -> None:
    before = {
        "description": "Scrape {{steps.x}}.",
        "tag": "t",
        "max_turns": 10,
        "tools": [],
        "name": "scrape",
        "version": 1,
    }
    stored = RegisteredDefinition.model_validate(before)

    assert stored.content == TaskDefinition(description="Scrape {{steps.x}}.", tag="t")


def test_the_same_steps_are_the_same_version() -> None:
    definitions = MemoryHarness(ManualClock()).definitions
    document = a_document(steps=[PLAN, WRITE], maxCostUsd=0.5)

    versions = [
        definitions.put("acme", "d", TaskDefinition.model_validate(emitted)).version
        for emitted in (document, document, document | {"maxCostUsd": 0.6})
    ]

    assert versions == [1, 1, 2]


def test_a_definition_says_only_what_differs_from_the_stage() -> None:
    emitted = {"silentWarning": 10_000, "repeats": 3}

    definition = TaskDefinition.model_validate(a_document(health=emitted))

    assert definition.health is not None
    assert definition.health.limits == OwnLimits(silent_warning_ms=10_000, repeats=3)
    assert TaskDefinition.model_validate(a_document()).health is None


@pytest.mark.parametrize(
    ("health", "words"),
    [
        ({"silentWarning": 999}, "greater than or equal to 1000"),
        ({"overtime": 86_400_001}, "less than or equal to 86400000"),
        ({"repeats": 1}, "greater than or equal to 2"),
        ({"repeats": 1_001}, "less than or equal to 1000"),
        ({"silentWarning": 5_000, "silentCritical": 5_000}, "must be less than silentCritical"),
        ({"slowness": 5_000}, "Extra inputs"),
    ],
)
def test_limits_that_make_no_sense_are_refused(health: dict[str, int], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        TaskDefinition.model_validate(a_document(health=health))


def test_names_of_models_and_tools_stay_on_one_line_and_steer_no_terminal() -> None:
    hostile = "claude\x1b[31m-x\nERROR forged\u202e"
    definition = TaskDefinition.model_validate(a_document(model=hostile, tools=[hostile]))

    assert definition.model == "claude[31m-x ERROR forged"
    assert definition.tools == ("claude[31m-x ERROR forged",)
