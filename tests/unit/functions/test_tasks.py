"""`@task` marks a function, leaves it as it is, and refuses what cannot be a task."""

from collections.abc import Iterator

import pytest

from switchyard.functions import FunctionsError, task
from switchyard.functions.tasks import TaskOptions, options_of


@task(timeout="2m", retries=1, name="cut-text")
def split(text: str, size: int = 800) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


@task
def bare() -> None: ...


def unmarked() -> None: ...


def test_a_marked_function_is_called_like_any_other() -> None:
    assert split("abcdef", size=4) == ["abcd", "ef"]


def test_what_its_author_said_is_noted_on_the_function() -> None:
    assert options_of(split) == TaskOptions(name="cut-text", timeout_ms=120_000, retries=1)
    assert options_of(bare) == TaskOptions(name="bare", timeout_ms=None, retries=2)
    assert options_of(len) is None
    assert options_of(TaskOptions(name="x")) is None


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"timeout": "soon"}, 'write "90s", "2m" or "1h"'),
        ({"timeout": "13h"}, "from 1 s to 12 h"),
        ({"timeout": 120}, "is not a time limit"),
        ({"retries": 3}, "from 0 to 2"),
        ({"retries": -1}, "from 0 to 2"),
        ({"retries": True}, "is not a number"),
        ({"name": "a b"}, "cannot name a task"),
    ],
)
def test_an_option_that_makes_no_sense_is_refused(options: dict[str, object], words: str) -> None:
    with pytest.raises(FunctionsError, match=words):
        task(**options)(unmarked)  # type: ignore[call-overload]


def test_parameters_that_have_no_name_are_refused() -> None:
    def positional(text: str, /) -> str:
        return text

    def several(*texts: str) -> str:
        return "".join(texts)

    def yielding() -> Iterator[int]:
        yield 1

    for function, words in (
        (positional, "'text' is positional-only"),
        (several, "any number of positions"),
        (yielding, "returns its result"),
    ):
        with pytest.raises(FunctionsError, match=words):
            task(function)
