"""A function is called with the members of an input, and answers in JSON or is refused."""

import subprocess
import sys
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

import pytest

from switchyard.functions.calls import call
from switchyard.functions.errors import FunctionsError, NotJson, WrongInput


@dataclass
class Page:
    number: int
    printed: date


def split(text: str, size: int = 800, mode: Literal["words", "bytes"] = "words") -> list[str]:
    return [text[:size], mode]


def options(**given: int) -> dict[str, int]:
    return given


def nothing() -> None: ...


def anything(value: Any) -> Any:
    return value


def nested(rows: list[dict[str, float | None]]) -> int:
    return len(rows)


def turned(page: Page) -> Page:
    return Page(page.number + 1, page.printed)


async def later(text: str) -> str:
    return text.upper()


def test_members_of_the_input_are_the_arguments() -> None:
    assert call(split, {"text": "abc", "size": 2}) == ["ab", "words"]
    assert call(split, {"text": "abc", "size": 2.0}) == ["ab", "words"]
    assert call(options, {"a": 1, "b": 2}) == {"a": 1, "b": 2}
    assert call(nested, {"rows": [{"a": 1, "b": None}]}) == 1
    assert call(later, {"text": "abc"}) == "ABC"


def test_a_function_without_parameters_needs_no_input() -> None:
    assert call(nothing, None) is None
    assert call(nothing, {}) is None


def test_other_types_are_made_from_json_and_back() -> None:
    page = {"number": 1, "printed": "2026-11-17"}

    assert call(turned, {"page": page}) == {"number": 2, "printed": "2026-11-17"}


@pytest.mark.parametrize(
    ("function", "given", "sentence"),
    [
        (split, {}, "the argument 'text' is missing in the input"),
        (split, None, "the argument 'text' is missing in the input"),
        (split, ["abc"], "the input must be an object with the function's arguments by name"),
        (
            split,
            {"text": "a", "sise": 1},
            "the function has no parameter 'sise'; did you mean 'size'?",
        ),
        (
            split,
            {"text": "a", "colour": 1},
            "the function has no parameter 'colour'; it has 'text', 'size', 'mode'",
        ),
        (nothing, {"text": "a"}, "the function has no parameter 'text'; it has none"),
        (split, {"text": 7}, "the argument 'text' must be a string, not an integer"),
        (
            split,
            {"text": "a", "size": True},
            "the argument 'size' must be an integer, not true or false",
        ),
        (
            split,
            {"text": "a", "mode": "lines"},
            "the argument 'mode' must be one of 'words', 'bytes', not a string",
        ),
        (
            nested,
            {"rows": [{}, {"a": "x"}]},
            "the argument 'rows[1].a' must be a number or null, not a string",
        ),
        (options, {"a": "x"}, "the argument 'a' must be an integer, not a string"),
    ],
)
def test_a_wrong_input_is_refused_in_a_sentence(function: Any, given: Any, sentence: str) -> None:
    with pytest.raises(WrongInput) as refused:
        call(function, given)

    assert str(refused.value) == sentence


def test_a_wrong_input_of_another_type_names_its_place() -> None:
    with pytest.raises(WrongInput, match=r"'page\.printed' does not fit: Input should be"):
        call(turned, {"page": {"number": 1, "printed": "soon"}})


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ({1, 2}, "contains a set, which JSON does not have"),
        ({"a": [object()]}, "contains a object"),
        (float("nan"), "contains nan"),
        ({1: "a"}, "a member whose name is not a string"),
        ("\ud800", "half of a character"),
    ],
)
def test_a_result_that_is_not_json_is_refused(result: Any, words: str) -> None:
    with pytest.raises(NotJson, match=words):
        call(lambda: result, None)


def test_a_result_that_is_not_what_its_hint_says_is_refused() -> None:
    def wrong() -> Page:
        return object()  # type: ignore[return-value]

    with pytest.raises(NotJson, match="returned a object, which is not what its hint says"):
        call(wrong, None)


def test_hints_that_cannot_be_read_are_the_authors_fault() -> None:
    def broken(text: "Unknown") -> str:  # type: ignore[name-defined] # noqa: F821
        return str(text)

    with pytest.raises(FunctionsError, match="its type hints cannot be read: name 'Unknown'"):
        call(broken, {"text": "a"})


def test_what_the_function_raises_is_not_changed() -> None:
    with pytest.raises(ZeroDivisionError):
        call(lambda: 1 // 0, None)


def test_a_plain_call_imports_no_pydantic() -> None:
    script = (
        "import sys; from switchyard.functions import task; from switchyard.functions.calls "
        "import call; call(task(name='t')(lambda text: text), {'text': 'a'}); "
        "print([name for name in ('pydantic', 'asyncio') if name in sys.modules])"
    )
    printed = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )

    assert printed.stdout.strip() == "[]"
