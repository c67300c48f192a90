"""What Claude's tools for todos say of them: `TodoWrite` in whole lists, the others one by one."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, get_args

from worker.agents.excerpt import excerpt
from worker.agents.todos import TodoChange, TodoState

STATES: Final = get_args(TodoState)


def todo_changes(tool: str, given: Any, response: Any) -> tuple[TodoChange, ...]:
    match tool, given, response:
        case "TodoWrite", {"todos": [*todos]}, _:
            return tuple(_listed(todos))
        case "TaskCreate", _, {"task": {"id": key, "subject": subject}}:
            return (TodoChange(key=str(key), state="pending", content=excerpt(subject)),)
        case "TaskUpdate", {"taskId": key, "status": state}, _ if state in STATES:
            return (TodoChange(key=str(key), state=state),)
    return ()


def _listed(todos: list[Any]) -> Iterator[TodoChange]:
    """In a list a todo is known by its text."""
    for todo in todos:
        if isinstance(todo, Mapping) and todo.get("status") in STATES:
            content = str(todo.get("content"))
            yield TodoChange(key=content, state=todo["status"], content=excerpt(content))
