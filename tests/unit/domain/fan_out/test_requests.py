"""What can be wrong with a fan-out before its list is known, in one sentence each."""

from typing import Any

import pytest
from pydantic import ValidationError

from switchyard.contracts.task_requests import TaskRequest
from switchyard.domain.fan_out.fan_outs import FanOut, Tolerance, fan_out_of
from switchyard.domain.fan_out.requests import fan_out_problems, references_of_lists


def a_request(**fields: Any) -> TaskRequest:
    given = {"taskId": "t", "name": "n", "forEach": "${tasks.a.output}", **fields}
    return TaskRequest.model_validate(given)


def problems_of(**fields: Any) -> list[str]:
    return [str(problem) for problem in fan_out_problems(a_request(**fields).spec(), 0)]


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"forEach": "${tasks.a.output.items[0].files}"},
        {"forEach": ["${tasks.a.output}", "${item.pages}"], "key": ["${item.id}", "${outer.id}"]},
        {"forEach": "${input.items}", "input": {"items": [1, 2], "n": "${item}"}},
        {"input": {"text": "$${item} and ${tasks.a.output.x} and ${itemise} and ${index}"}},
    ],
)
def test_a_right_one_has_no_problems(fields: Any) -> None:
    assert problems_of(**fields) == []


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (
            {"forEach": "all of ${tasks.a.output}"},
            "tasks.0.forEach: 'all of ${tasks.a.output}' must",
        ),
        ({"forEach": "${item.x}"}, "tasks.0.forEach: '${item.x}' must be exactly one reference"),
        ({"forEach": ["${tasks.a.output}", "${index}"]}, "tasks.0.forEach: '${index}' must be"),
        ({"key": ["${item}", "${item}"]}, "tasks.0.key: has 2 parts and forEach 1;"),
        ({"key": "${tasks.a.output}"}, "tasks.0.key: is made of the item"),
        ({"key": "${item.}"}, "tasks.0.key: ${item.} is not an item's"),
        ({"input": {"a": ["${outer.x}"]}}, "tasks.0.input.a.0: ${outer.x} needs a second list"),
        ({"forEach": "${input.items}", "input": {}}, "tasks.0: ${input.items} has no value"),
        (
            {"forEach": "${input.items}", "input": {"items": "x"}},
            "tasks.0.forEach: ${input.items} is a text, and must be a list",
        ),
        (
            {"forEach": "${input.items}", "input": {"items": [1] * 10_001}},
            "tasks.0.forEach: ${input.items} has 10,001 items;",
        ),
        (
            {"forEach": "${input.items}", "input": {"items": [1, 1]}, "key": "${item}"},
            "tasks.0.key: ${item} is '1' for two items",
        ),
        (
            {
                "forEach": "${input.i}",
                "input": {"i": ["a" * 64]},
                "key": "${item}",
                "taskId": "t" * 99,
            },
            "tasks.0.key: 'ttttt",
        ),
    ],
)
def test_a_mistake_is_named_with_its_field(fields: Any, said: str) -> None:
    [problem] = problems_of(**fields)
    assert problem.startswith(said)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"forEach": [1, 2]}, "say forEach: ${input.items}"),
        ({"forEach": {"file": "a.jsonl"}}, "'a.jsonl' names no file: write job/NAME"),
        ({"forEach": {"file": "job/*.jsonl"}}, "has a wildcard; a list is in one file"),
        ({"forEach": {"file": "job/../a"}}, "is no path below a folder"),
        ({"forEach": {"file": 3}}, "a list in a file is named by {file: job/NAME}"),
        ({"forEach": {"path": "job/a"}}, "a list in a file is named by {file: job/NAME}"),
        ({"forEach": {"file": "job/a", "key": "b"}}, "a list in a file is named by"),
        ({"forEach": None, "key": "${item}"}, "key belongs to a fan-out: a task with forEach"),
        ({"kind": "approval", "name": None}, "the items of a list need a name"),
        ({"kind": "fan_out", "name": None}, "kind"),
        (
            {"tolerate": "a few"},
            'must be a number of items, like 5, or a share of them, like "5 %"',
        ),
        ({"tolerate": -1}, "must be a number of items"),
        ({"tolerate": "101 %"}, "must be a number of items"),
    ],
)
def test_what_no_fan_out_can_have_is_refused(fields: Any, said: str) -> None:
    with pytest.raises(ValidationError) as refused:
        a_request(**fields)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("given", "of_40"),
    [(0, 0), (3, 3), ("3", 3), ("5 %", 2), ("5%", 2), ("2.5 %", 1), ("100%", 40)],
)
def test_a_tolerance_is_a_count_or_a_share(given: Any, of_40: int) -> None:
    tolerance = Tolerance.read(given)
    assert tolerance.of(40) == of_40
    assert tolerance.none is (of_40 == 0)
    assert Tolerance.read(str(tolerance)) == tolerance


def test_what_is_stored_comes_back() -> None:
    fan_out = FanOut(for_each=("a", "b"), key=("c", "d"), tolerate=Tolerance.read("5 %"))
    assert fan_out_of(fan_out.stored() | {"newer": 1}) == fan_out
    in_file = FanOut(for_each=("job/a.jsonl",), in_file=True)
    assert fan_out_of(in_file.stored()) == in_file


def test_the_list_of_another_task_is_a_reference_to_it() -> None:
    [(task_id, reference)] = references_of_lists([a_request().spec()])
    assert (task_id, reference.task_id, reference.path) == ("t", "a", ("tasks", 0, "forEach"))
