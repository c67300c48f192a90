"""
CliError               a sentence for the user, and the exit code it ends in
├── BadInput           2   an argument, a file, a key
│   └── InvalidFile        every problem, each with its line
├── Unreachable        3   a stage or the local cloud is not there
└── Interrupted      130   Ctrl-C

What the API itself answers is a `ClientError`; `exit_code_of` gives its exit code.
"""

from collections.abc import Sequence
from typing import ClassVar

from switchyard.client.errors import ClientError, Refused

JOB_NOT_COMPLETED = 1
LOG_DISAGREES = 1
DEFINITIONS_DIFFER = 1
FUNCTION_FAILED = 1
SENT_IN_VAIN = 1
SOMETHING_IS_WRONG = 1


class CliError(Exception):
    exit_code: ClassVar[int]


class BadInput(CliError):
    exit_code = 2


class InvalidFile(BadInput):
    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))


class Unreachable(CliError):
    exit_code = 3


class Interrupted(CliError):
    exit_code = 130


def exit_code_of(error: CliError | ClientError) -> int:
    if isinstance(error, CliError):
        return error.exit_code
    return BadInput.exit_code if isinstance(error, Refused) else Unreachable.exit_code
