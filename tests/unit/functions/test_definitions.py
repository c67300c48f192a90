"""A package's functions become definitions, with schemas, limits and one hash."""

import sys
from pathlib import Path
from uuid import uuid4

import pytest

from switchyard.functions.definitions import definitions_of
from switchyard.functions.errors import FunctionsError
from switchyard.functions.packages import content_hash, located

MODULE = '''
from typing import Literal
from switchyard.functions import task

@task(timeout="2m", retries=1)
def split(text: str, size: int = 800) -> list[str]:
    """Cut a text into pieces.

    Each has at most `size` characters.
    """

@task(name="count-words", retries=0)
def count(texts: list[str]): ...
'''
HUGE = """
from typing import Literal
from switchyard.functions import task

@task
def pick(value: Literal[{}]) -> None: ...
"""


def written(folder: Path, text: str) -> str:
    file = folder / f"functions_{uuid4().hex}.py"
    file.write_text(text)
    return str(file)


def test_each_function_is_described(tmp_path: Path) -> None:
    package = located(written(tmp_path, MODULE))

    found = definitions_of(package)

    assert found.code_hash == content_hash(package)
    assert [*found.definitions] == ["count-words", "split"]
    split = found.definitions["split"]
    assert split.kind == "code"
    assert split.function == f"{package.name}:split"
    assert split.code_hash == found.code_hash
    assert (split.description or "").startswith("Cut a text into pieces.")
    assert (split.timeout, split.retry.max_attempts) == (120_000, 2)
    assert split.input_schema
    assert split.input_schema["required"] == ["text"]
    assert split.output_schema == {"type": "array", "items": {"type": "string"}}
    assert found.definitions["count-words"].output_schema is None
    assert found.definitions["count-words"].retry.max_attempts == 1
    del sys.modules[package.name]


def test_a_schema_that_no_stage_accepts_is_refused_in_a_sentence(tmp_path: Path) -> None:
    values = ", ".join(f"'{'x' * 50}{number}'" for number in range(1_500))
    package = located(written(tmp_path, HUGE.format(values)))

    with pytest.raises(FunctionsError, match=r":pick: input_schema: is .* bytes; at most 64,000"):
        definitions_of(package)
    del sys.modules[package.name]
