"""What is wrong with templates, and with tasks that name them, is found before anything is sent."""

from typing import Any

import pytest

from switchyard.contracts.definitions import TaskDefinition
from switchyard_cli.files.static_checks import definition_problems


def problems(**definitions: Any) -> list[str]:
    read = {name: TaskDefinition.model_validate(one) for name, one in definitions.items()}
    return [str(one) for one in definition_problems(read)]


def template(*tasks: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"kind": "job", "tasks": list(tasks), **more}


WRITE = {"tag": "editor", "description": "Write."}
A_TASK = {"taskId": "a", "name": "write"}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (template({**A_TASK, "input": "${tasks.b.output}"}), "names 'b', which does not exist"),
        (template({**A_TASK, "input": "${input[}"}), "is no part of the input"),
        (template(A_TASK, output="${tasks.b.output}"), "'b', which is no task of the template"),
        (template({**A_TASK, "taskId": "a" * 65}), "in a template must be 1 to 64 of"),
        (template({**A_TASK, "kind": "job"}), "'write' is of kind agent; kind: job needs"),
        (template({**A_TASK, "name": "t", "kind": "job"}), "'t' cannot be a part of itself"),
        (template(*({**A_TASK, "taskId": f"a{n}"} for n in range(201))), "at most 200 tasks"),
    ],
)
def test_a_template_is_checked_by_itself(wrong: dict[str, Any], said: str) -> None:
    [found] = problems(write=WRITE, t=wrong)
    assert said in found


def test_a_circle_of_templates_is_too_deep() -> None:
    def using(name: str) -> dict[str, Any]:
        return template({"taskId": "in", "kind": "job", "name": name})

    first, _ = problems(a=using("b"), b=using("a"))
    assert "a → b → a are 3 jobs in one another" in first


def test_a_template_has_no_fields_of_what_a_worker_runs() -> None:
    for field in ({"timeout": 5_000}, {"tag": "editor"}, {"command": ["ls"]}):
        with pytest.raises(ValueError, match="belongs to"):
            TaskDefinition.model_validate(template(A_TASK, **field))
    with pytest.raises(ValueError, match="belongs to jobs"):
        TaskDefinition.model_validate({**WRITE, "tasks": [A_TASK]})
    with pytest.raises(ValueError, match="a schema here may use"):
        TaskDefinition.model_validate(template(A_TASK, inputSchema={"anyOf": [{}]}))
