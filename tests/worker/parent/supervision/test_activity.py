"""What is seen of an attempt: what it does, since when, and whether it only repeats itself."""

import asyncio
from typing import Any

import pytest

from switchyard.domain.tasks.task import MAX_ACTIVITY_BYTES, LifeSigns
from switchyard.testing import ManualClock
from switchyard_worker.agents.claude import SessionHooks
from switchyard_worker.boundary import MARKER, Marked, mark, mark_call, marked_in
from switchyard_worker.parent.supervision.child_output import LastActivity
from tests.worker.harness import WorkerHarness

NOW_MS = 1_000_000


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW_MS)


@pytest.fixture
def activity(clock: ManualClock) -> LastActivity:
    return LastActivity(clock)


def seen(activity: LastActivity) -> tuple[str | None, int | None, int]:
    signs = activity.signs(beat_at_ms=NOW_MS)
    return signs.activity, signs.activity_at_ms, signs.repeats


def marked(capsys: pytest.CaptureFixture[str]) -> list[Marked | None]:
    return [marked_in(line.encode()) for line in capsys.readouterr().out.splitlines()]


def test_who_has_said_nothing_is_alive_all_the_same(activity: LastActivity) -> None:
    assert activity.signs(beat_at_ms=7) == LifeSigns(beat_at_ms=7)


def test_saying_the_same_again_is_no_change(activity: LastActivity, clock: ManualClock) -> None:
    activity.note("sdk_query", "plan")
    clock.advance(60)
    activity.note("sdk_query", "plan")
    assert seen(activity) == ("sdk_query:plan", NOW_MS, 0)
    assert activity.current is not None
    assert activity.current.at_ms == NOW_MS + 60_000


@pytest.mark.parametrize(
    "other", [("waiting", "plan", ""), ("sdk_query", "write", ""), ("sdk_query", "plan", "b")]
)
def test_another_type_step_or_call_is_a_change(
    activity: LastActivity, clock: ManualClock, other: Any
) -> None:
    activity.note("sdk_query", "plan", "a")
    clock.advance(60)
    activity.note(*other)
    kind, step, call = other
    assert seen(activity) == (f"{kind}:{step}", NOW_MS + 60_000, 1 if call else 0)


def test_the_same_call_is_counted_until_there_is_another(activity: LastActivity) -> None:
    counts = []
    for call in ("a", "a", "a", "b", "a", "a", ""):
        activity.note("sdk_query", "plan", call)
        counts.append(activity.signs(beat_at_ms=NOW_MS).repeats)
    assert counts == [1, 2, 3, 1, 1, 2, 0]


def test_however_long_a_step_is_called_its_signs_are_short(activity: LastActivity) -> None:
    activity.note("step_running", "ü" * 64)
    name = activity.signs(beat_at_ms=NOW_MS).activity
    assert name is not None
    assert name.startswith("step_running:ü")
    assert MAX_ACTIVITY_BYTES - 1 <= len(name.encode()) <= MAX_ACTIVITY_BYTES


def test_a_call_is_told_apart_by_its_tool_and_its_input(
    capsys: pytest.CaptureFixture[str],
) -> None:
    mark_call("Read", {"path": "a", "limit": 1}, step="plan")
    mark_call("Read", {"limit": 1, "path": "a"}, step="plan")
    mark_call("Read", {"path": "b", "limit": 1}, step="plan")
    mark_call("Grep", {"path": "a", "limit": 1}, step="plan")
    first, again, other_input, other_tool = [m.call for m in marked(capsys) if m]
    assert first == again
    assert len({first, other_input, other_tool}) == 3


def test_what_a_tool_was_given_is_not_in_its_marker(capsys: pytest.CaptureFixture[str]) -> None:
    mark_call("Bash", {"command": "deploy --password hunter2"}, step="plan")
    said = capsys.readouterr().out
    assert said.startswith(MARKER)
    assert "hunter2" not in said


def test_a_marker_without_a_call_reads_as_it_always_did(capsys: pytest.CaptureFixture[str]) -> None:
    mark("waiting", step="plan")
    printed = capsys.readouterr().out
    assert printed == '::step {"type": "waiting", "stepName": "plan"}\n'
    assert marked_in(printed.encode()) == Marked("waiting", "plan", "")


@pytest.mark.parametrize("call", ["7", "null", "[]", '"\\u001b[31m"'])
def test_a_call_that_is_no_plain_text_makes_no_marker(call: str) -> None:
    line = f'::step {{"type": "waiting", "stepName": "x", "call": {call}}}'
    assert marked_in(line.encode()) is None


def test_a_session_marks_every_call_before_it_is_made(capsys: pytest.CaptureFixture[str]) -> None:
    hooks = SessionHooks(step="plan")
    [[matcher]] = [found for name, found in hooks.matchers().items() if name == "PreToolUse"]
    emitted: Any = {
        "hook_event_name": "PreToolUse",
        "tool_use_id": "1",
        "tool_name": "Read",
        "tool_input": {"path": "a"},
    }

    async def call_twice() -> None:
        for _ in range(2):
            await matcher.hooks[0](emitted, None, {"signal": None})

    asyncio.run(call_twice())
    first, second = marked(capsys)
    assert first == second
    assert first is not None
    assert (first.activity, first.step, bool(first.call)) == ("sdk_query", "plan", True)


def test_a_running_task_shows_what_it_does_and_how_often(harness: WorkerHarness) -> None:
    harness.configure(visibility_extension_amount=1)
    calls = [{"name": "Read", "input": "a"}] * 3
    harness.add_task(given={"offline": {"delayMs": 1_500, "toolCalls": calls}})
    harness.work(until=harness.quiet)
    task = harness.task()
    assert task.signs is not None
    assert (task.signs.activity, task.signs.repeats) == ("sdk_query:task-step", 3)
    assert task.started_at_ms is not None
    assert task.started_at_ms <= (task.signs.activity_at_ms or 0) <= task.signs.beat_at_ms
