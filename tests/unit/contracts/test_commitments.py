"""A commitment that makes no sense is refused with a sentence that names the field and the fix."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from switchyard.contracts.commitments import Commitment, Commitments, named, too_many
from switchyard.contracts.definitions import TaskDefinition
from switchyard.contracts.problems import validation_problems
from switchyard.contracts.task_requests import TaskRequest

FILE = {"kind": "file", "path": "report.md"}
ADAPTER: TypeAdapter[tuple[Commitment, ...]] = TypeAdapter(Commitments)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"kind": "fiel"}, "0.kind: 'fiel' is not known; use one of file, output, command, http"),
        ({"kind": "file"}, "a commitment of kind file needs path: a pattern"),
        ({"kind": "output"}, "needs condition: like ${output.count} > 0"),
        (FILE | {"url": "https://a.com"}, "url does not belong to kind file, which has path"),
        (FILE | {"path": "artifacts/a.md"}, "is relative to the folder artifacts: write a.md"),
        (FILE | {"path": "../a.md"}, "is no path below a folder"),
        (FILE | {"path": "a\x1b.md"}, "has a character that no pattern may have"),
        (FILE | {"minBytes": 5, "maxBytes": 2}, "minBytes is above maxBytes"),
        (FILE | {"schema": {"type": "objekt"}}, "'objekt' is not a type"),
        (FILE | {"sha256": "abc"}, "64 of 0-9 a-f"),
        (FILE | {"name": "a b"}, "0.name: must be 1 to 64"),
        ({"kind": "output", "condition": "${output.n} >"}, "expected a reference or a value"),
        ({"kind": "output", "condition": "${tasks.a.output} == 1"}, "a reference like ${output."),
        ({"kind": "command", "command": []}, "at least 1 item"),
        ({"kind": "command", "command": ["a\x00"]}, "contains a control character"),
        ({"kind": "http", "url": "ftp://a.com"}, "must begin with https://"),
        ({"kind": "http", "url": "https://a:b@c.com"}, "must not contain credentials"),
        ({"kind": "http", "url": "https://a.com", "timeout": 100_000}, "at most 60,000 ms"),
        ({"kind": "http", "url": "https://a.com", "method": "POST"}, "'GET' or 'HEAD'"),
        ({"kind": "rubric", "rubric": ""}, "at least 1 character"),
        (FILE | {"weight": 2}, "is not a field that is known here"),
    ],
)
def test_a_wrong_commitment_is_refused_with_a_sentence(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError) as refused:
        ADAPTER.validate_python([given])
    problem, *_ = validation_problems(refused.value.errors())
    assert said in str(problem)


def test_more_than_twenty_are_refused_before_they_are_looked_at() -> None:
    with pytest.raises(ValidationError, match="there are 21; at most 20 are accepted"):
        ADAPTER.validate_python([FILE] * 21)


def test_those_of_a_definition_count_too() -> None:
    assert too_many(10, 10) is None
    assert "has 11 commitments and its definition 10" in str(too_many(10, 11))


def test_two_of_one_name_are_refused() -> None:
    with pytest.raises(ValidationError, match="two commitments are called 'a'"):
        ADAPTER.validate_python([FILE | {"name": "a"}] * 2)


def test_none_gets_lost_when_names_collide() -> None:
    first, second = Commitment(**FILE), Commitment(**FILE | {"name": "file-1"})
    assert list(named((first, second, second))) == ["file-1", "file-1-2", "file-1-3"]


def test_what_is_stored_is_read_again() -> None:
    commitment = Commitment.model_validate(FILE | {"schema": {"type": "object"}, "minCount": 2})
    assert Commitment.model_validate(commitment.stored()) == commitment


@pytest.mark.parametrize("kind", ["approval", "job"])
def test_only_what_a_worker_runs_has_commitments(kind: str) -> None:
    named = {"name": "x"} if kind == "job" else {}
    given = {"taskId": "a", "kind": kind, "commitments": [FILE], **named}
    with pytest.raises(ValidationError, match="commitments belongs to a task that a worker runs"):
        TaskRequest.model_validate(given)


def test_a_template_has_none_of_its_own() -> None:
    with pytest.raises(ValidationError, match="belongs to what a worker runs"):
        TaskDefinition.model_validate(
            {"kind": "job", "tasks": [{"taskId": "a", "name": "x"}], "commitments": [FILE]}
        )
