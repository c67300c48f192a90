"""What tenants wrote is checked in a process that can be ended: no check holds the worker."""

import asyncio
import json
import os
import signal
import time
from collections.abc import Awaitable, Callable
from typing import Any

import psutil
import pytest

from switchyard.adapters.system import SystemClock, system_sleep
from switchyard_worker.child.guard_client import BlockingGuard
from switchyard_worker.guard.examine import Finding, Wrong
from switchyard_worker.guard.redaction import Redaction
from switchyard_worker.parent.attempts.guard_client import GuardClient
from tests.security.attacks import nested_unevaluated

ENDLESS = "(a+)+$"
SLOW_TEXT = "a" * 40 + "!"


def a_guard(**limits: Any) -> GuardClient:
    return GuardClient(clock=SystemClock(), sleep=system_sleep, host_environment={}, **limits)


def with_guard(story: Callable[[GuardClient], Awaitable[Any]], **limits: Any) -> Any:
    async def emitted() -> Any:
        guard = a_guard(**limits)
        try:
            return await story(guard)
        finally:
            await guard.close()

    return asyncio.run(emitted())


def found(value: Any, schema: dict[str, Any], *, max_seconds: float = 5) -> Finding:
    async def story(guard: GuardClient) -> Finding:
        return await guard.check_value(json.dumps(value).encode(), schema)

    finding: Finding = with_guard(story, max_seconds=max_seconds)
    return finding


def twice(depth: int) -> dict[str, Any]:
    defs = {
        f"x{n}": {"allOf": [{"$ref": f"#/$defs/x{n + 1}"}, {"$ref": f"#/$defs/x{n + 1}"}]}
        for n in range(depth)
    }
    return {"$defs": {**defs, f"x{depth}": {}}, "$ref": "#/$defs/x0"}


PATTERNS_ELSEWHERE: list[tuple[dict[str, Any], Any]] = [
    ({"patternProperties": {ENDLESS: True}}, {SLOW_TEXT: 1}),
    ({"propertyNames": {"pattern": ENDLESS}}, {SLOW_TEXT: 1}),
    ({"$defs": {"x": {"pattern": ENDLESS}}, "items": {"$ref": "#/$defs/x"}}, [SLOW_TEXT]),
]


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"pattern": ENDLESS}, SLOW_TEXT),
        *(
            pytest.param(schema, value, marks=pytest.mark.long)
            for schema, value in PATTERNS_ELSEWHERE
        ),
        ({"uniqueItems": True}, [{"n": n} for n in range(3_000)]),
        (twice(40), 1),
        (nested_unevaluated(24), {"a": 1}),
    ],
    ids=[
        "pattern",
        "patternProperties",
        "propertyNames",
        "$defs",
        "unique",
        "twice",
        "unevaluated",
    ],
)
def test_a_schema_that_takes_for_ever_is_given_up(schema: dict[str, Any], value: Any) -> None:
    finding = found(value, schema, max_seconds=0.5)

    assert (finding.wrong, finding.message) == (
        Wrong.UNCHECKED,
        "the check took longer than 0.5 s",
    )


def test_a_check_may_need_only_so_much_memory() -> None:
    document = b'{"output": [' + b",".join([b"[]"] * 3_000_000) + b"]}"

    async def story(guard: GuardClient) -> Finding:
        return await guard.check_outcome(document, None, Redaction())

    finding = with_guard(story, max_megabytes=128)
    assert (finding.wrong, finding.message) == (
        Wrong.UNCHECKED,
        "the check needed more than 128 MB",
    )


def test_what_is_wrong_is_said_with_its_place_and_cut() -> None:
    schema = {"properties": {"colour": {"pattern": "^#[0-9a-f]{6}$"}}}

    assert found({"colour": "#aabbcc"}, schema) == Finding()
    assert found({"colour": "vermilion \u2713"}, schema).message == (
        "$.colour: 'vermilion \u2713' does not match '^#[0-9a-f]{6}$'"
    )
    assert len(found({"colour": "x" * 100_000}, schema).message) == 2_000


def test_the_process_is_started_once_and_again_after_it_died() -> None:
    others = _guards()

    async def story(guard: GuardClient) -> list[int]:
        pids = []
        for kill in (False, True, False):
            assert await guard.check_value(b"1", {}) == Finding()
            pids += [guard.pid for guard in _guards() if guard not in others]
            if kill:
                os.kill(pids[-1], signal.SIGKILL)
        return pids

    first, second, third = with_guard(story)
    assert first == second != third


def test_a_death_that_is_not_noticed_yet_fails_no_check() -> None:
    """The system tells of it later than the next check may come."""

    async def story(guard: GuardClient) -> None:
        for _ in range(3):
            assert await guard.check_value(b"1", {}) == Finding()
            os.kill(_guards()[0].pid, signal.SIGKILL)

    with_guard(story)


def test_a_check_beside_one_that_hangs_is_answered() -> None:
    async def story(guard: GuardClient) -> float:
        await guard.check_value(b"1", {})
        hanging = asyncio.create_task(
            guard.check_value(json.dumps(SLOW_TEXT).encode(), {"pattern": ENDLESS})
        )
        await asyncio.sleep(0.05)
        began = time.monotonic()
        assert await guard.check_value(b"1", {"type": "integer"}) == Finding()
        took = time.monotonic() - began
        assert not hanging.done()
        assert (await hanging).wrong is Wrong.UNCHECKED
        return took

    assert with_guard(story, max_seconds=1) < 1


def test_a_check_that_nobody_waits_for_any_more_ends() -> None:
    async def story(guard: GuardClient) -> None:
        await guard.check_value(b"1", {})
        hanging = asyncio.create_task(
            guard.check_value(json.dumps(SLOW_TEXT).encode(), {"pattern": ENDLESS})
        )
        (process,) = _guards()
        async with asyncio.timeout(5):
            while not process.children():  # noqa: ASYNC110 - another process
                await asyncio.sleep(0.01)
            hanging.cancel()
            while process.children():  # noqa: ASYNC110 - another process
                await asyncio.sleep(0.01)

    with_guard(story, max_seconds=60)


def test_the_process_ends_with_the_worker() -> None:
    async def story(guard: GuardClient) -> psutil.Process:
        await guard.check_value(b"1", {})
        return _guards()[0]

    process = with_guard(story)
    assert not process.is_running()


def test_the_process_has_no_environment_of_the_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "canary")

    async def story(guard: GuardClient) -> dict[str, str]:
        await guard.check_value(b"1", {})
        return _guards()[0].environ()

    assert set(with_guard(story)) <= {"PYTHONPATH", "LC_CTYPE"}


def test_a_tasks_child_checks_its_steps_in_the_same_way() -> None:
    guard = BlockingGuard(max_seconds=0.5)
    try:
        assert guard.check_value(b"1", {"type": "integer"}) == Finding()
        assert guard.check_value(b"1", {"type": "string"}).wrong is Wrong.MISMATCH
        finding = guard.check_value(b'{"a": 1}', nested_unevaluated(24))
        assert finding.message == "the check took longer than 0.5 s"
        assert guard.check_value(b"1", {"type": "integer"}) == Finding()
    finally:
        guard.close()


def _guards() -> list[psutil.Process]:
    children = [p for p in psutil.Process().children() if p.status() != psutil.STATUS_ZOMBIE]
    return [p for p in children if "switchyard_worker.guard.process" in p.cmdline()]
