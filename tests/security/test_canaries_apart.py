"""Canaries in places that one run of a worker shows only a few of: each canary by itself."""

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from switchyard.adapters.system import SystemClock
from switchyard.domain.tasks.failures import FailureCategory
from switchyard_worker.agents.trace import ToolJournal
from switchyard_worker.guard.redaction import Redaction
from switchyard_worker.parent.attempts.verdict import Concluded, failed_by, without_secrets
from switchyard_worker.parent.health.stop import Bugs, Stop
from switchyard_worker.parent.supervision.child_output import LastActivity
from tests.security.canaries import CANARIES, KEY, PLACES
from tests.security.test_canaries import DOING, ERRORS, TOOLS, WORKERS, core_of, forms_of
from tests.worker.harness import WorkerHarness
from tests.worker.parent.attempts.test_child_outcome import judged
from tests.worker.real_child import run

PLANTED: Final = {
    **{form: core_of(form) for forms in forms_of(KEY).values() for form in forms},
    **{canary.text: canary.secret for canary in CANARIES},
}
REDACTION: Final = Redaction(KEY)
ESCAPED: Final = "\\u{:04x}"


def error_of_a_task(text: str, folder: Path) -> str:
    written = {"status": "failed", "error": text, "category": "validation"}
    verdict = judged(folder, written, exit_code=1, secret=KEY)
    assert verdict.category is FailureCategory.VALIDATION
    reported = without_secrets(verdict, Redaction())
    assert isinstance(reported, Concluded)
    return reported.outcome.error or ""


def error_of_the_worker(text: str, _folder: Path) -> str:
    return failed_by(RuntimeError(text), REDACTION).outcome.error or ""


def broken_up(text: str) -> str:
    return "\x07".join(text)


def broken_up_invisibly(text: str) -> str:
    return "\u200b".join(text)


@pytest.mark.parametrize("place", [error_of_a_task, error_of_the_worker])
@pytest.mark.parametrize("way", [str, broken_up, broken_up_invisibly])
@pytest.mark.parametrize("planted", PLANTED, ids=lambda text: text[:24].encode().hex())
def test_an_error_reveals_none(
    planted: str, way: Callable[[str], str], place: Callable[[str, Path], str], tmp_path: Path
) -> None:
    reported = place(f"planted {way(planted)} end", tmp_path)

    assert PLACES[ERRORS].keys
    assert "[redacted]" in reported or "~" in reported
    assert PLANTED[planted] not in reported


def test_the_log_of_a_bug_reveals_none(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    async def story() -> None:
        ports = WorkerHarness(tmp_path).ports()
        stop = Stop(grace_seconds=1, sleep=ports.sleep)
        bugs = Bugs(ports.clock, stop, redaction=REDACTION, most_in_a_row=1_000)
        for text in PLANTED:
            bugs.note(ValueError(f"planted {text}"), message_id="m")

    asyncio.run(story())

    assert PLACES[WORKERS].keys
    logged = str([vars(record) for record in caplog.records])
    assert logged.count("ValueError: planted") >= len(PLANTED)
    assert not [secret for secret in PLANTED.values() if secret in logged]


class Activities(LastActivity):
    def __init__(self) -> None:
        super().__init__(SystemClock())
        self.all: list[str] = []

    def note(self, type: Any, step_name: str, call: str = "") -> None:  # noqa: A002
        self.all.append(f"{step_name} {call}")


def markers(text: str) -> Iterator[str]:
    """A marker is a line of 1,000 bytes at most; half a form is none."""
    for step, call in ((text, ""), (f"planted {text}", text)):
        yield "::step " + json.dumps({"type": "waiting", "stepName": step, "call": call})
    if len(text) < 150:
        escaped = "".join(ESCAPED.format(ord(character)) for character in text)
        yield f'::step {{"type": "waiting", "stepName": "{escaped}"}}'


def test_what_a_child_says_it_is_doing_reveals_none_however_it_is_escaped(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    lines = [line for text in PLANTED for line in text.splitlines()]
    marked = [line for text in lines for line in markers(text)]
    (tmp_path / "lines").write_text("\n".join(marked) + "\n")
    activities = Activities()
    program = f"print(open({str(tmp_path / 'lines')!r}).read())"

    run(tmp_path, program, secret=KEY, activity=activities)

    assert PLACES[DOING].keys
    assert len(activities.all) > len(lines)
    reported = "\n".join(activities.all)
    halves = {secret[:30] for secret in PLANTED.values() if not secret.startswith("MII")}
    assert not [half for half in halves if half in reported]


@pytest.mark.parametrize("canary", CANARIES, ids=lambda canary: canary.name)
def test_a_trace_of_tools_reveals_none_of_other_secrets(canary: Any) -> None:
    journal = ToolJournal()
    for number, given in enumerate((canary.text, {"command": canary.text}, [canary.text])):
        journal.began(str(number), "Bash", given, now_ms=1)
        journal.returned(str(number), {"stdout": canary.text}, now_ms=2)

    assert PLACES[TOOLS].shapes
    assert canary.secret not in str(journal.calls())
