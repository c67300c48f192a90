"""A handler under AWS's own runtime client, as Lambda would run it."""

import json
import os
from pathlib import Path
from textwrap import dedent

import pytest

from switchyard.clock import system_clock
from switchyard_local.errors import CloudError
from switchyard_local.functions.invoke import Invoked, function_names, invoke

ECHO = """
    import os

    print("hello from", os.environ["GREETER"])


    def handler(event, context):
        if event.get("fail"):
            raise ValueError("as asked")
        if event.get("leave"):
            os._exit(7)
        known = (context.function_name, context.aws_request_id, context.invoked_function_arn)
        return {"event": event, "known": known, "left": context.get_remaining_time_in_millis()}
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path, "save_echo", ECHO)
    return tmp_path


def write(root: Path, function: str, code: str) -> None:
    folder = root / "lambdas" / function
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "handler.py").write_text(dedent(code))


def run(root: Path, event: object, function: str = "save_echo") -> Invoked:
    return invoke(
        root,
        function,
        json.dumps(event).encode(),
        environment={"PATH": os.environ["PATH"], "GREETER": "a test"},
        log=root / "log",
        clock=system_clock(),
    )


def test_the_handler_answers_the_event_and_knows_its_context(root: Path) -> None:
    invoked = run(root, {"n": ["ü", None]})

    assert not invoked.answer.failed
    assert invoked.answer.payload["event"] == {"n": ["ü", None]}
    name, request_id, arn = invoked.answer.payload["known"]
    assert name == "switchyard-local-save-echo"
    assert request_id
    assert arn.endswith(f":function:{name}")
    assert 0 < invoked.answer.payload["left"] <= 30_000
    assert invoked.log.startswith("hello from a test")


def test_an_error_is_told_with_its_type(root: Path) -> None:
    answer = run(root, {"fail": True}).answer

    assert answer.failed
    assert (answer.payload["errorType"], answer.payload["errorMessage"]) == (
        "ValueError",
        "as asked",
    )


def test_a_handler_that_cannot_be_imported_has_failed(root: Path) -> None:
    write(root, "save_echo", "import no_such_module")

    answer = run(root, {}).answer

    assert answer.failed
    assert "no_such_module" in answer.payload["errorMessage"]


def test_a_handler_that_leaves_gives_no_answer(root: Path) -> None:
    with pytest.raises(CloudError, match="save_echo gave no answer"):
        run(root, {"leave": True})


def test_functions_are_known_by_their_folders(root: Path) -> None:
    write(root, "api", ECHO)
    (root / "lambdas" / "notes").mkdir()

    assert function_names(root) == ["api", "save_echo"]
