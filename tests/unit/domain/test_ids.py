"""Ids are whole or they are nothing."""

import pytest
from pydantic import ValidationError

from switchyard.contracts.messages import Malformed, TaskMessage, parse_task_message
from switchyard.domain.ids import JobRef, split_request_id
from tests.builders import JOB, JOB_ID


def test_the_first_double_underscore_splits_a_request_id() -> None:
    assert split_request_id(f"{JOB_ID}__a__b") == (JOB_ID, "a__b")


@pytest.mark.parametrize(
    "request_id", [JOB_ID, f"{JOB_ID}__", f"{JOB_ID}__a\n", "job-1__a", f"../{JOB_ID}__a", ""]
)
def test_what_is_not_a_request_id_is_refused(request_id: str) -> None:
    with pytest.raises(ValueError, match="not of the form"):
        split_request_id(request_id)


def test_a_message_comes_back_as_it_was_sent() -> None:
    message = TaskMessage.to(JOB.task("a"), run=2)
    assert parse_task_message(message.model_dump_json(by_alias=True)) == message


@pytest.mark.parametrize(
    "job", [JobRef("acme\n", JOB_ID), JobRef("acme", f"{JOB_ID}\n"), JobRef("../a", JOB_ID)]
)
def test_a_message_with_a_tampered_id_cannot_exist(job: JobRef) -> None:
    with pytest.raises(ValidationError):
        TaskMessage.to(job.task("a"), run=1)


@pytest.mark.parametrize("body", ["", "[]", "{", "null", '{"schema": 1}', "[" * 5000])
def test_a_malformed_body_says_where(body: str) -> None:
    with pytest.raises(Malformed):
        parse_task_message(body)
