"""Ids are whole or they are nothing."""

import pytest
from pydantic import ValidationError

from switchyard.contracts.messages import Delivered, Malformed, TaskMessage, parse_message
from switchyard.domain import ids
from switchyard.domain.ids import (
    REQUEST_ID,
    JobRef,
    TaskRef,
    bare_task,
    due_shard,
    split_request_id,
    task_named,
)
from tests.builders import JOB, JOB_ID


def test_the_first_double_underscore_splits_a_request_id() -> None:
    assert split_request_id(f"{JOB_ID}__a__b") == (JOB_ID, "a__b")


@pytest.mark.parametrize(
    "request_id", [JOB_ID, f"{JOB_ID}__", f"{JOB_ID}__a\n", "job-1__a", f"../{JOB_ID}__a", ""]
)
def test_what_is_not_a_request_id_is_refused(request_id: str) -> None:
    with pytest.raises(ValueError, match="not of the form"):
        split_request_id(request_id)


@pytest.mark.parametrize("ref", [JOB.task("a__b"), JOB.task("__end__"), bare_task("acme", "42")])
def test_a_request_id_leads_back_to_its_task(ref: TaskRef) -> None:
    assert REQUEST_ID.fullmatch(ref.request_id)
    assert task_named(ref.tenant, ref.request_id) == ref


@pytest.mark.parametrize("request_id", ["42", "a_b", "-", "x" * 256])
def test_a_bare_task_keeps_its_id_where_no_job_can_be(request_id: str) -> None:
    ref = bare_task("acme", request_id)
    assert (ref.bare, ref.hidden, ref.request_id) == (True, False, request_id)
    assert not ids.JOB_ID.fullmatch(ref.job_id)
    assert due_shard(ref.request_id) == due_shard(request_id)
    assert not JOB.task("a").bare


@pytest.mark.parametrize(
    "request_id", ["", "a__b", "job-1", JOB_ID, "42\n", "../42", "~42", "x" * 257, "ü", "a#b"]
)
def test_an_id_that_is_not_bare_names_nothing(request_id: str) -> None:
    with pytest.raises(ValueError, match="not"):
        task_named("acme", request_id)


def delivered(body: str) -> Delivered:
    return Delivered(body=body, message_id="m", sent_at_ms=1)


@pytest.mark.parametrize("ref", [JOB.task("a"), bare_task("acme", "42")])
def test_a_message_comes_back_as_it_was_sent(ref: TaskRef) -> None:
    message = TaskMessage.to(ref, run=2)
    assert message.ref == ref
    body = message.model_dump_json(by_alias=True)
    assert parse_message(delivered(body), tenant=None) == message


@pytest.mark.parametrize(
    "job", [JobRef("acme\n", JOB_ID), JobRef("acme", f"{JOB_ID}\n"), JobRef("../a", JOB_ID)]
)
def test_a_message_with_a_tampered_id_cannot_exist(job: JobRef) -> None:
    with pytest.raises(ValidationError):
        TaskMessage.to(job.task("a"), run=1)


@pytest.mark.parametrize(
    "named",
    [
        {"job_id": "~42", "task_id": "other", "request_id": "42"},
        {"job_id": "~42", "task_id": "task", "request_id": "43"},
        {"job_id": "42", "task_id": "task", "request_id": "42"},
        {"job_id": f"~{JOB_ID}", "task_id": "task", "request_id": JOB_ID},
        {"job_id": "~a__b", "task_id": "task", "request_id": "a__b"},
        {"job_id": "~42\n", "task_id": "task", "request_id": "42\n"},
        {"job_id": JOB_ID, "task_id": "a", "request_id": "42"},
    ],
)
def test_a_message_whose_ids_disagree_cannot_exist(named: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        TaskMessage(tenant_id="acme", run=1, **named)


@pytest.mark.parametrize("body", ["", "[]", "{", "null", '{"schema": 1}', "[" * 5000])
def test_a_malformed_body_says_where(body: str) -> None:
    with pytest.raises(Malformed, match=r"^[\w.]+: "):
        parse_message(delivered(body), tenant="acme")
