"""`invoke`: the answer alone on stdout, what was logged beside it."""

import json
from pathlib import Path

import pytest

from switchyard_local.functions.invoke import Invoked
from switchyard_local.functions.runtime_api import Answer
from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.api import FakeCloud


@pytest.fixture
def event(tmp_path: Path) -> Path:
    file = tmp_path / "event.json"
    file.write_text('{"Records": []}')
    return file


def test_the_answer_is_alone_on_stdout(
    switchyard: Switchyard, cloud: FakeCloud, event: Path
) -> None:
    cloud.invoked = Invoked(Answer({"batchItemFailures": []}, failed=False), log="one\n\x1b[2Jtwo")

    result = switchyard("invoke", "save-event", event)

    assert json.loads(result.stdout) == {"batchItemFailures": []}
    assert result.stderr == "one\n\\x1b[2Jtwo\n"
    assert result.exit_code == 0
    assert cloud.calls == ['invoke save_event {"Records": []}']


def test_a_handler_that_fails_ends_in_one(
    switchyard: Switchyard, cloud: FakeCloud, event: Path
) -> None:
    cloud.invoked = Invoked(Answer({"errorType": "ValueError"}, failed=True), log="\xa0\xa0File x")

    result = switchyard("invoke", "api", event)

    assert json.loads(result.stdout) == {"errorType": "ValueError"}
    assert result.stderr == "  File x\n"
    assert result.exit_code == 1


def test_an_unknown_function_names_the_known_ones(switchyard: Switchyard, event: Path) -> None:
    result = switchyard("invoke", "fly", event)

    known = "There is no function 'fly'; there are answer_slack, api, archive_dead_letters,"
    assert result.stderr.startswith(known)
    assert result.exit_code == 2


def test_an_event_that_is_not_there(switchyard: Switchyard, tmp_path: Path) -> None:
    assert switchyard("invoke", "api", tmp_path / "none.json").exit_code == 2
