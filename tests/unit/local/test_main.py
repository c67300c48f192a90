"""`python -m switchyard_local`: how failures end."""

import sys

import pytest

from switchyard_local import command_line as command
from switchyard_local.errors import CloudError


@pytest.mark.parametrize(
    ("failure", "sentence", "exit_code"),
    [
        (CloudError("Port 4580 is in use."), "Port 4580 is in use.", 1),
        (
            PermissionError(13, "Permission denied", "/cloud.json"),
            "The operating system refused: Permission denied (/cloud.json).",
            1,
        ),
        (KeyboardInterrupt(), "Interrupted: what was started is stopped again.", 130),
    ],
)
def test_a_failure_ends_in_a_sentence(
    failure: BaseException,
    sentence: str,
    exit_code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(*_: object) -> None:
        raise failure

    monkeypatch.setattr(command, "run", fail)
    monkeypatch.setattr(sys, "argv", ["local", "up"])

    assert command.main() == exit_code
    assert capsys.readouterr().err == f"{sentence}\n"
