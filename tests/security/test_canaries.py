"""Canaries in every place where a secret can be: what is promised holds, and no more is promised.

A real worker runs real children that print, write, name and return each canary in each form. Then
all that was stored, sent or logged is searched.
"""

import json
import logging
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from switchyard.adapters.slack.blocks import pages_of
from switchyard.contracts.webhooks import WebhookMessage
from switchyard.domain.alerts.job_incidents import task_incident
from switchyard.domain.error_text import PRIVATE_KEYS, SHAPES
from switchyard_worker.guard.redaction import ENCODINGS
from tests.builders import JOB
from tests.fakes.servers.messages_api import messages_api
from tests.security.canaries import CANARIES, FORMS, KEY, PLACES, PROGRAM
from tests.worker.harness import WorkerHarness
from tests.worker.misbehaving import let_children_run

DOCS: Final = Path(__file__).parents[2] / "docs" / "security.md"
LOG, PRINTED, DOING, ERRORS, WORKERS, TOOLS, OUTPUTS, FILES, NAMES, GIVEN = PLACES
_defined: dict[str, Any] = {}
exec(FORMS, _defined)
forms_of = _defined["forms_of"]


class Recorder(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(json.dumps(vars(record), default=str) + record.getMessage())


class Found:
    """All that a worker stored, sent and logged, by the place that it belongs to."""

    def __init__(self, harness: WorkerHarness, log: list[str], token: str) -> None:
        self.harness = harness
        self.token = token
        blobs = harness.memory.blobs.blobs
        printed = {k: v for k, v in blobs.items() if k.endswith(("/stdout.log", "/stderr.log"))}
        results = {k: v for k, v in blobs.items() if k.endswith("/task-result.json")}
        others = {k: v for k, v in blobs.items() if k not in printed and k not in results}
        failed = harness.task("failed")
        incident = task_incident(failed)
        reported = {
            str(e.detail()) for e in harness.memory.bus.events if "failed" in str(e.detail())
        }
        self.texts: Mapping[str, str] = {
            LOG: "\n".join(line for line in log if "WORKFLOW" in line),
            PRINTED: _text(printed),
            DOING: str([beat.detail() for beat in harness.heartbeats]),
            ERRORS: str(
                (
                    *(failed, reported, incident, pages_of(incident, with_buttons=True)),
                    WebhookMessage.of(incident, now_ms=1).model_dump_json(),
                    [line for line in log if "failed" in line],
                )
            ),
            OUTPUTS: str(
                (
                    *(harness.memory.payloads.read(JOB.task("done")).output, _text(results)),
                    [
                        e.detail()
                        for e in harness.memory.bus.events
                        if e.event_type != "Task Failed"
                    ],
                )
            ),
            FILES: _text(others),
            NAMES: "\n".join(blobs) + "\n".join(line for line in log if "WORKFLOW" not in line),
        }


def _text(blobs: Mapping[str, bytes]) -> str:
    return "\n".join(content.decode(errors="replace") for content in blobs.values())


@pytest.fixture(scope="module")
def found() -> Iterator[Found]:
    pytest.importorskip("h11")
    recorder = Recorder()
    logger = logging.getLogger("worker")
    logger.addHandler(recorder)
    with (
        tempfile.TemporaryDirectory() as name,
        messages_api() as api,
        pytest.MonkeyPatch.context() as patch,
    ):
        folder = Path(name)
        harness = WorkerHarness(folder / "output")
        harness.host_environment = {
            "PATH": os.environ["PATH"],
            "ANTHROPIC_API_KEY": KEY,
            "ANTHROPIC_BASE_URL": api.url,
        }
        harness.configure(visibility_extension_interval=200)
        shapes = list(dict.fromkeys(canary.text for canary in CANARIES))
        (folder / "planted.json").write_text(json.dumps({"key": KEY, "shapes": shapes}))
        let_children_run(PROGRAM, folder, patch)
        for task in ("done", "failed", "lines"):
            harness.add_task(task, definition={"backend": "messages", "model": "claude-haiku-4-5"})
        harness.work(until=harness.quiet, seconds=60)
        yield Found(harness, recorder.lines, (folder / "token").read_text())
    logger.removeHandler(recorder)


def core_of(form: str) -> str:
    """Most of it: a form in base64 begins and ends with what others share with it."""
    return form[4:-6]


@cache
def visible(text: str) -> str:
    """Return the text as a person sees it."""
    return re.sub(r"[\x00-\x08\u200b]|\\x07|\\u0007|\\u200b", "", text)


@cache
def dense(text: str) -> str:
    return re.sub(r"\s|\\n", "", text)


def test_the_canaries_were_planted(found: Found) -> None:
    assert len(CANARIES) >= 20
    states = {name: found.harness.task(name).state for name in ("done", "failed", "lines")}
    assert states == {"done": "COMPLETED", "failed": "FAILED", "lines": "COMPLETED"}
    for place, text in found.texts.items():
        assert "planted" in text, place
        assert place == NAMES or "[redacted]" in text, place
    assert "files whose names contain a key are not uploaded" in found.texts[NAMES]


@pytest.mark.parametrize("place", [LOG, PRINTED, DOING, ERRORS, OUTPUTS, FILES, NAMES])
@pytest.mark.parametrize("encoding", forms_of(KEY))
def test_keys_of_the_platform_are_nowhere(found: Found, place: str, encoding: str) -> None:
    assert PLACES[place].keys
    text = visible(found.texts[place])
    # A line of the log is written before the next one is known.
    together = text if place == LOG else dense(text)
    for secret in (KEY, found.token):
        for form in forms_of(secret)[encoding]:
            assert core_of(form) not in text
            assert core_of(form) not in together
            assert core_of(" ".join(form)) not in text
            if place in {LOG, PRINTED}:  # where long lines are cut
                assert form[4:26] not in text


@pytest.mark.parametrize("canary", CANARIES, ids=lambda canary: canary.name)
@pytest.mark.parametrize("place", [LOG, PRINTED, ERRORS])
def test_secrets_of_known_shapes_are_removed_where_that_is_promised(
    found: Found, place: str, canary: Any
) -> None:
    assert PLACES[place].shapes
    assert canary.secret not in visible(found.texts[place])


@pytest.mark.parametrize("place", [OUTPUTS, FILES])
def test_elsewhere_they_stay_as_the_docs_say(found: Found, place: str) -> None:
    assert not PLACES[place].shapes
    secrets = {canary.secret for canary in CANARIES}
    assert {secret for secret in secrets if secret in found.texts[place]} == secrets


def test_a_name_with_another_secret_is_stored_as_the_docs_say(found: Found) -> None:
    assert not PLACES[NAMES].shapes
    assert "canary-hunter2" in found.texts[NAMES]


def table(heading: str) -> list[list[str]]:
    """The rows of the table in the docs whose first column has that heading."""
    _, found, rest = DOCS.read_text().partition(f"\n| {heading} |")
    assert found, heading
    lines = rest.split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def test_the_docs_promise_the_encodings_that_the_code_finds() -> None:
    assert {row[0] for row in table("form of a key")} == ENCODINGS.keys()


def test_the_docs_promise_the_shapes_that_the_code_knows_and_each_has_a_canary() -> None:
    known = {shape.name for shape in SHAPES} | {PRIVATE_KEYS}
    assert {row[0] for row in table("kind of secret")} == known
    assert {canary.kind for canary in CANARIES} == known


def test_the_docs_promise_what_is_tried_for_each_place() -> None:
    promised = {row[0]: (row[1], row[2]) for row in table("place")}
    assert promised.keys() == PLACES.keys()
    for place, promise in PLACES.items():
        said = tuple(cell.startswith("yes") for cell in promised[place])
        assert said == (promise.keys, promise.shapes), place
