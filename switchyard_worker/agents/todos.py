"""Measures how long an agent's todos waited and were worked on, as a state machine.

    pending ─▶ in_progress ─▶ completed

A todo may skip `in_progress`, and go back to `pending`: time is added to the state it was in.
`completed` is final.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, get_args

from switchyard_worker.agents.trace import excerpt

TodoState = Literal["pending", "in_progress", "completed"]

MAX_TODOS: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class TodoTiming:
    content: str
    state: TodoState
    since_ms: int
    """The time of the last addition to its duration, on the agent's clock."""
    pending_ms: int = 0
    in_progress_ms: int = 0

    def moved_to(self, state: TodoState, now_ms: int) -> "TodoTiming":
        return self if self.state == "completed" else replace(self.at(now_ms), state=state)

    def at(self, now_ms: int) -> "TodoTiming":
        """Return the todo with the time in its present state added up until now."""
        spent = now_ms - self.since_ms
        return replace(
            self,
            since_ms=now_ms,
            pending_ms=self.pending_ms + (spent if self.state == "pending" else 0),
            in_progress_ms=self.in_progress_ms + (spent if self.state == "in_progress" else 0),
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "content": self.content,
            "state": self.state,
            "pendingMs": self.pending_ms,
            "inProgressMs": self.in_progress_ms,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class TodoChange:
    key: str
    state: TodoState
    content: str | None = None
    """The text of the todo, known when it is new."""


Todos = Mapping[str, TodoTiming]


def changed(todos: Todos, change: TodoChange, now_ms: int) -> Todos:
    todo = todos.get(change.key)
    if todo is not None:
        return {**todos, change.key: todo.moved_to(change.state, now_ms)}
    if change.content is None or len(todos) >= MAX_TODOS:
        return todos
    new = TodoTiming(content=change.content, state=change.state, since_ms=now_ms)
    return {**todos, change.key: new}


def ended(todos: Todos, now_ms: int) -> tuple[TodoTiming, ...]:
    """Return the todos at the end of a session: an unfinished one has lasted until now."""
    return tuple(todo.at(now_ms) for todo in todos.values())


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
    """Yield the todos of a whole list, in which a todo is identified by its text."""
    for todo in todos:
        if isinstance(todo, Mapping) and todo.get("status") in STATES:
            content = str(todo.get("content"))
            yield TodoChange(key=content, state=todo["status"], content=excerpt(content))
