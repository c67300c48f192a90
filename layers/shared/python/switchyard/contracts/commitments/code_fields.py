"""Fields of a definition of code: a function and its content, or a program with its arguments."""

import re
from typing import Annotated, Final

from pydantic import AfterValidator, Field

from switchyard.contracts.wire import at_most, described_by
from switchyard.domain.text import without_control_characters

MAX_ARGUMENTS: Final = 100
_FUNCTION: Final = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*", re.ASCII)
_CODE_HASH: Final = re.compile(r"[0-9a-f]{64}")


def _function(reference: str) -> str:
    if not _FUNCTION.fullmatch(reference):
        raise ValueError("must be package.module:name, as `switchyard definitions push` writes it")
    return reference


def _code_hash(code_hash: str) -> str:
    if not _CODE_HASH.fullmatch(code_hash):
        raise ValueError("must be 64 of 0-9 a-f, as `switchyard definitions push` writes it")
    return code_hash


def _argument(text: str) -> str:
    if without_control_characters(text) != text:
        raise ValueError("contains a control character, or half of a character")
    return text


FunctionName = Annotated[
    str, Field(max_length=200), AfterValidator(_function), described_by(_FUNCTION)
]
CodeHash = Annotated[str, AfterValidator(_code_hash), described_by(_CODE_HASH)]
Argument = Annotated[str, Field(max_length=8_000), AfterValidator(_argument)]
Command = Annotated[
    tuple[Argument, ...], Field(min_length=1, max_length=MAX_ARGUMENTS), at_most(MAX_ARGUMENTS)
]
