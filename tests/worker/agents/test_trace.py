from typing import Any

import pytest

from switchyard_worker.agents.todos import (
    MAX_TODOS,
    TodoChange,
    Todos,
    TodoState,
    changed,
    ended,
    todo_changes,
)
from switchyard_worker.agents.trace import (
    MAX_CALLS,
    MAX_CHARACTERS,
    CacheUse,
    ToolJournal,
    Trace,
    excerpt,
)


def after(*moves: tuple[int, TodoState]) -> Todos:
    todos: Todos = {}
    for at_ms, state in moves:
        todos = changed(todos, TodoChange(key="a", state=state, content="mix"), at_ms)
    return todos


def timed(todos: Todos, at_ms: int) -> tuple[str, int, int]:
    [todo] = ended(todos, at_ms)
    return todo.state, todo.pending_ms, todo.in_progress_ms


def test_a_todo_waits_then_is_worked_on_then_is_done() -> None:
    todos = after((100, "pending"), (250, "in_progress"), (1_000, "completed"))

    assert timed(todos, 9_999) == ("completed", 150, 750)


def test_a_todo_that_goes_back_adds_up_both_its_waits() -> None:
    todos = after((0, "pending"), (10, "in_progress"), (30, "pending"), (70, "in_progress"))

    assert timed(todos, 100) == ("in_progress", 50, 50)


def test_completed_is_final() -> None:
    todos = after((0, "in_progress"), (10, "completed"), (20, "in_progress"), (99, "pending"))

    assert timed(todos, 500) == ("completed", 0, 10)


def test_saying_the_same_again_changes_no_duration() -> None:
    todos = after((0, "in_progress"), (10, "in_progress"), (30, "in_progress"))

    assert timed(todos, 40) == ("in_progress", 0, 40)


def test_a_change_of_an_unknown_todo_is_ignored() -> None:
    assert changed({}, TodoChange(key="7", state="completed"), 1) == {}


def test_todos_are_bounded() -> None:
    todos: Todos = {}
    for number in range(MAX_TODOS + 5):
        todos = changed(todos, TodoChange(key=str(number), state="pending", content="x"), 0)

    assert len(todos) == MAX_TODOS


@pytest.mark.parametrize(
    ("tool", "given", "response", "changes"),
    [
        (
            "TodoWrite",
            {"todos": [{"content": "a", "status": "pending"}, {"content": "b", "status": "?"}, 7]},
            None,
            [("a", "pending", "a")],
        ),
        ("TaskCreate", {}, {"task": {"id": "1", "subject": "mix"}}, [("1", "pending", "mix")]),
        ("TaskUpdate", {"taskId": "1", "status": "completed"}, {}, [("1", "completed", None)]),
        ("TaskUpdate", {"taskId": "1", "status": "deleted"}, {}, []),
        ("TaskUpdate", {"taskId": "1"}, {}, []),
        ("TaskCreate", {}, "refused", []),
        ("TodoWrite", {"todos": "none"}, None, []),
        ("Bash", {"todos": [{"content": "a", "status": "pending"}]}, None, []),
    ],
)
def test_what_the_tools_say_of_todos(
    tool: str, given: Any, response: Any, changes: list[tuple[str, str, str | None]]
) -> None:
    emitted = todo_changes(tool, given, response)

    assert [(change.key, change.state, change.content) for change in emitted] == changes


def test_a_call_lasts_as_long_as_the_tool_says_else_as_we_saw() -> None:
    journal = ToolJournal()
    for call in ("a", "b", "c"):
        journal.began(call, call.upper(), {"n": 1}, now_ms=100)
    journal.returned("a", "done", now_ms=150)
    journal.returned("b", "failed", now_ms=150, duration_ms=7, failed=True)
    journal.returned("never began", "x", now_ms=150)

    assert [(c.name, c.duration_ms, c.output, c.failed) for c in journal.calls()] == [
        ("A", 50, "done", False),
        ("B", 7, "failed", True),
        ("C", None, None, False),
    ]


def test_a_journal_keeps_count_of_what_it_leaves_out() -> None:
    journal = ToolJournal()
    for number in range(MAX_CALLS + 3):
        journal.began(str(number), "Read", {}, now_ms=0)

    assert (len(journal.calls()), journal.left_out) == (MAX_CALLS, 3)


def test_an_excerpt_is_short_and_harmless() -> None:
    key = "sk-ant-api03-abcdefghijklmnopqrstuvwx"
    text = excerpt(f"{key} \x1b[31mred " + "x " * 5_000_000)

    assert text.startswith("[redacted] [31mred x x")
    assert len(text) < MAX_CHARACTERS + 50
    assert text.endswith("(10,000,047 characters)")


@pytest.mark.parametrize("before", range(7_960, 8_000, 3))
def test_an_excerpt_never_shows_half_a_secret(before: int) -> None:
    key = "sk-ant-api03-abcdefghijklmnopqrstuvwx"
    login = "https://user:" + "p" * 500 + "@example.com "
    text = (login * 100)[:before] + " " + key

    assert "sk-ant-api03-abc" not in excerpt(text)


def test_efficiency_is_the_share_that_came_from_the_cache() -> None:
    assert CacheUse().efficiency_percent == 0
    assert CacheUse(input_tokens=1, read_tokens=2).efficiency_percent == 66.7
    assert CacheUse(read_tokens=75, creation_tokens=25).efficiency_percent == 75


def test_a_trace_is_json() -> None:
    journal = ToolJournal()
    journal.began("a", "Read", {"path": "x"}, now_ms=0)
    todos = ended(after((0, "pending")), 5)

    emitted = Trace(tool_calls=journal.calls(), todos=todos).as_json()

    assert emitted["toolCalls"][0] == {
        "name": "Read",
        "durationMs": None,
        "input": '{"path": "x"}',
        "output": None,
        "failed": False,
    }
    assert emitted["todos"] == [
        {"content": "mix", "state": "pending", "pendingMs": 5, "inProgressMs": 0}
    ]
    assert emitted["cache"]["efficiencyPercent"] == 0
