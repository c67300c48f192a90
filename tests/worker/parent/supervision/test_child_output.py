"""What real children print: kept, bounded, cleaned, and understood where it is a marker."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from switchyard.adapters.system import SystemClock, system_sleep
from switchyard_worker.guard.redaction import Redaction
from switchyard_worker.parent.files.folder import TaskFolder
from switchyard_worker.parent.supervision.child_environment import child_environment
from switchyard_worker.parent.supervision.child_output import (
    MAX_LINE_BYTES,
    MAX_STORED_BYTES,
    ChildOutput,
    LastActivity,
    Printed,
)
from switchyard_worker.parent.supervision.children import Child
from tests.worker.real_child import HOST, run, stdout


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "logs").mkdir()
    return tmp_path


def test_long_lines_are_cut_and_endless_output_is_dropped(folder: Path) -> None:
    code = (
        f"print('x' * {3 * MAX_LINE_BYTES}); print('short')\n"
        f"for n in range(2_000): print(n, 'y' * 1_000)"
    )

    run(folder, code)

    first, second, *_, last = stdout(folder).splitlines()
    assert (len(first), second) == (MAX_LINE_BYTES, "short")
    assert "the rest is not stored" in last
    assert len(stdout(folder)) <= MAX_STORED_BYTES + 200


def test_a_printed_credential_is_not_kept(folder: Path) -> None:
    run(folder, "print('my key is sk-canary')", secret="sk-canary")

    assert stdout(folder) == "my key is [redacted]\n"


def test_what_looks_like_a_secret_is_not_kept_either(folder: Path) -> None:
    run(folder, "print('AKIAABCDEFGHIJKLMNOP in /home/me/x')")

    assert stdout(folder) == "[redacted] in ~/x\n"


def test_a_marker_is_what_the_child_does_and_no_output(folder: Path) -> None:
    activity = LastActivity(SystemClock())
    code = (
        "from switchyard_worker.boundary import mark\n"
        "print('first'); mark('step_running', step='plan'); mark('sdk_query', step='plan')\n"
        'print(\'::step {"type": "root", "stepName": "x"}\'); print("::step [")'
    )

    run(
        folder,
        code,
        environment=child_environment(HOST, folder, access=None),
        activity=activity,
    )

    assert activity.current is not None
    assert (activity.current.type, activity.current.step_name) == ("sdk_query", "plan")
    assert stdout(folder).splitlines() == [
        "first",
        '::step {"type": "root", "stepName": "x"}',
        "::step [",
    ]


@pytest.mark.long
def test_a_marker_is_heard_after_any_amount_of_output(folder: Path) -> None:
    activity = LastActivity(SystemClock())
    code = (
        f"print('\\n' * {3 * MAX_STORED_BYTES})\n"
        "from switchyard_worker.boundary import mark; mark('waiting', step='late')"
    )

    run(
        folder,
        code,
        environment=child_environment(HOST, folder, access=None),
        activity=activity,
    )

    assert activity.current is not None
    assert activity.current.step_name == "late"
    assert len(stdout(folder)) < MAX_STORED_BYTES / 50


def test_thousands_of_lines_at_once_do_not_hold_up_the_loop(folder: Path) -> None:
    turns: list[int] = []

    async def follow() -> None:
        output = ChildOutput(
            TaskFolder.opened(folder).create("logs/stdout.log"),
            request_id="r",
            redaction=Redaction(None),
            printed=Printed(),
            activity=LastActivity(SystemClock()),
        )
        os.write(output.write_end, b"x\n" * 5_000)
        following = asyncio.create_task(output.follow())
        while not following.done():
            turns.append((folder / "logs/stdout.log").stat().st_size)
            await asyncio.sleep(0)

    asyncio.run(follow())

    assert len(set(turns)) > 10  # it grew bit by bit, and others saw it


def test_whoever_holds_a_pipe_open_does_not_hold_the_worker(folder: Path) -> None:
    async def last_words() -> None:
        output = ChildOutput(
            TaskFolder.opened(folder).create("logs/stdout.log"),
            request_id="r",
            redaction=Redaction(None),
            printed=Printed(),
            activity=LastActivity(SystemClock()),
        )
        held = os.dup(output.write_end)
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-c", "print('last words')", stdout=output.write_end
            )
            child = Child(process, [output], sleep=system_sleep)
            assert await child.exited() == 0
            await child.finish_output()
        finally:
            os.close(held)

    asyncio.run(last_words())
    assert stdout(folder) == "last words\n"


@pytest.mark.parametrize("kind", ["[]", "{}", "7", "null", '"other"'])
def test_a_marker_of_no_kind_we_know_is_only_a_line(kind: str, folder: Path) -> None:
    line = f'::step {{"type": {kind}, "stepName": "x"}}'
    activity = LastActivity(SystemClock())

    run(folder, f"print({line!r})", activity=activity)

    assert activity.current is None
    assert stdout(folder) == f"{line}\n"


def test_a_credential_in_a_marker_is_not_told(folder: Path) -> None:
    line = '::step {"type": "waiting", "stepName": "sk-canary"}'
    activity = LastActivity(SystemClock())

    run(folder, f"print({line!r})", secret="sk-canary", activity=activity)

    assert activity.current is not None
    assert "canary" not in activity.current.step_name
