"""
CliError               a sentence for the user, and the exit code it ends in
├── BadInput           2   an argument, a file, a key
│   ├── InvalidFile        every problem, each with its line
│   └── Refused            the API said no; carries the problems it named
├── Unreachable        3   nobody answered, or not as the API would
└── Interrupted      130   Ctrl-C
"""

from collections.abc import Sequence
from typing import ClassVar

from switchyard.domain.errors import Problem

JOB_NOT_COMPLETED = 1
LOG_DISAGREES = 1


class CliError(Exception):
    exit_code: ClassVar[int]


class BadInput(CliError):
    exit_code = 2


class InvalidFile(BadInput):
    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))


class Refused(BadInput):
    def __init__(self, sentence: str, problems: Sequence[Problem] = ()) -> None:
        super().__init__("\n  ".join([sentence, *map(str, problems)]))
        self.problems = tuple(problems)


class Unreachable(CliError):
    exit_code = 3


class Interrupted(CliError):
    exit_code = 130
