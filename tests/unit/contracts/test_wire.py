"""What may not cross a boundary does not."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from switchyard.contracts.definitions import TaskDefinition
from switchyard.contracts.dispatch_messages import settled_task
from switchyard.contracts.events.envelope import BusMessage
from switchyard.contracts.jobs import SubmitJob
from switchyard.contracts.task_requests import TaskRequest
from switchyard.domain.access.limits import WIDEST_CEILINGS
from switchyard.domain.errors import InvalidDefinition
from switchyard.domain.json_values import MAX_DEPTH, problem_in
from switchyard.testing import ManualClock, MemoryHarness
from switchyard.usecases.definitions.put_definition import put_definition
from tests.builders import JOB_ID, a_definition

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
INVISIBLE = "\u200b\u202e"


@pytest.mark.parametrize("name", ["", INVISIBLE, "\x1b"])
def test_a_name_of_nothing_visible_is_empty(name: str) -> None:
    with pytest.raises(ValidationError, match="at least 1 character"):
        SubmitJob.model_validate({"name": name, "tasks": []})
    with pytest.raises(ValidationError, match="at least 1 character"):
        TaskDefinition.model_validate({"description": name, "tag": "t"})


def test_control_characters_are_gone_before_anybody_reads_them() -> None:
    job = SubmitJob.model_validate({"name": f"a{INVISIBLE}\x1b[31mb", "tasks": []})
    assert job.name == "a[31mb"


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels - 1):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (float("nan"), "nan"),
        ({"a": [float("inf")]}, "inf"),
        ("\ud800", "surrogate"),
        ({"\udfff": 1}, "surrogate"),
        (nested(MAX_DEPTH + 1), "levels deep"),
        ({"a": {1, 2}}, "set"),
    ],
)
def test_what_json_does_not_have_is_refused_by_its_name(value: Any, words: str) -> None:
    problem = problem_in(value)
    assert problem is not None
    assert words in problem
    with pytest.raises(ValidationError):
        TaskRequest(task_id="a", name="scrape", input=value)


@given(
    st.recursive(
        st.none() | st.booleans() | NUMBERS | TEXT,
        lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner),
        max_leaves=20,
    )
)
@pytest.mark.slow
def test_all_of_json_survives(value: Any) -> None:
    assert problem_in(value) is None


def test_the_deepest_document_survives() -> None:
    assert problem_in(nested(MAX_DEPTH)) is None


def test_a_definition_too_large_to_keep_is_refused_with_its_size() -> None:
    harness = MemoryHarness(ManualClock())
    schema = {"type": "object", "description": "x" * 40_000}
    large = a_definition(input_schema=schema, output_schema=schema)
    with pytest.raises(InvalidDefinition, match="bytes"):
        put_definition(
            "acme", "d", large, definitions=harness.definitions, ceilings=WIDEST_CEILINGS
        )


@pytest.mark.parametrize(
    "facts",
    [
        {"tenantId": "../x"},
        {"tenantId": "acme\n"},
        {"entityType": "JOB", "entityId": "job-1"},
        {"entityType": "TASK", "entityId": JOB_ID},
    ],
)
def test_an_event_with_a_tampered_id_wakes_nobody(facts: dict[str, str]) -> None:
    detail = {
        "SK": "s",
        "entityId": JOB_ID,
        "entityType": "JOB",
        "tenantId": "acme",
        "eventType": "Job Created",
        "timestamp": 1,
        "properties": {},
    } | facts
    detail["PK"] = f"TENANT#{detail['tenantId']}"
    event = BusMessage.model_validate({"detail": detail}).detail
    with pytest.raises(ValueError, match="not "):
        settled_task(event)
