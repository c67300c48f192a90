"""What a signal may wait for is checked when its job is submitted, with the field and the fix."""

from typing import Any

import pytest
from pydantic import ValidationError

from switchyard.contracts.task_requests import TaskRequest
from switchyard.domain.errors import InvalidJob
from switchyard.domain.tasks.holds import hold_of
from tests.fakes.harnesses.held_harness import WORKER
from tests.fakes.harnesses.signalled_harness import PATTERN, SignalledHarness, a_signal


def a_task(**more: Any) -> TaskRequest:
    return TaskRequest.model_validate({"taskId": "paid", **more})


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"source": []}, "at least 1 item"),
        ({"source": ["a"] * 6}, "at most 5 items"),
        ({"source": ["aws.s3"]}, "AWS sends its events to the account's default bus"),
        ({"source": ["${input.name}"]}, "must be a plain text"),
        ({"detail-type": ["log-event"]}, "Switchyard's own events; a trigger starts a job"),
        ({"detail-type": ["x" * 257]}, "at most 256 characters"),
        ({"detail": {"orderId": 17}}, "detail.orderId: must be a list of what matches"),
        ({"detail": {"a": ["x" * 999] * 5}}, "has 5,0"),
        ({"resources": ["a"]}, "Extra inputs are not permitted"),
    ],
)
def test_a_pattern_that_cannot_be_used_is_refused(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said.replace(".", r"\.")):
        a_task(kind="signal", event=PATTERN | changed)


@pytest.mark.parametrize("field", ["source", "detail-type"])
def test_source_and_type_are_required(field: str) -> None:
    pattern = {name: given for name, given in PATTERN.items() if name != field}
    with pytest.raises(ValidationError, match="Field required"):
        a_task(kind="signal", event=pattern)


def test_only_a_signal_waits_for_an_event() -> None:
    with pytest.raises(ValidationError, match="event belongs to a signal"):
        a_task(kind="approval", event=PATTERN)


def test_a_pattern_is_stored_as_it_was_written() -> None:
    pattern = PATTERN | {"detail": {"orderId": ["${input.id}"]}}
    hold = a_task(kind="signal", event=pattern).spec().hold
    assert hold is not None
    assert hold_of(hold.kind, hold.stored()).event == pattern
    without = a_task(kind="signal").spec().hold
    assert without is not None
    assert without.stored() == {}


@pytest.mark.parametrize(
    ("detail", "given", "said"),
    [
        ({"id": ["order ${input.id}"]}, {"id": 1}, "must be exactly one reference, ${tasks.ID"),
        ({"id": ["${tasks.order}"]}, None, "must be exactly one reference"),
        ({"id": ["${tasks.other.output}"]}, None, "names 'other', which does not exist"),
        ({"id": ["${tasks.later.output}"]}, None, "on which 'paid' does not depend"),
        ({"id": ["${input.id}"]}, {}, "${input.id} has no value: input has no member 'id'"),
        ({"id": ["${input.id}"]}, {"id": {}}, "detail.id: {} is no operator"),
    ],
)
def test_a_reference_that_has_no_value_refuses_the_job(
    detail: dict[str, Any], given: Any, said: str
) -> None:
    with pytest.raises(InvalidJob) as refused:
        SignalledHarness().begin(paid=a_signal(detail, input=given), later=WORKER)
    assert said in str(refused.value)
    assert "event" in str(refused.value)
