"""MiniStack with expressions that are parsed once."""

from collections import Counter
from typing import Any

import pytest
from ministack.services import dynamodb

from switchyard_local.emulator.expressions import remember_parsed_expressions

CONDITION = "attribute_exists(a) AND a = :one"
VALUES = {":one": {"N": "1"}}


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often MiniStack itself was asked to parse."""
    counts: Counter[str] = Counter()

    def counting(name: str) -> Any:
        parse = getattr(dynamodb, name)

        def count(*args: Any) -> Any:
            counts[name] += 1
            return parse(*args)

        return count

    for name in ("_tokenize", "_condition_syntax_error"):
        monkeypatch.setattr(dynamodb, name, counting(name))
    remember_parsed_expressions()
    return counts


def holds(item: dict[str, Any], condition: str = CONDITION) -> bool:
    answer: bool = dynamodb._evaluate_condition(condition, item, VALUES, {})
    return answer


def test_a_condition_is_parsed_once_for_all_items(parsed: Counter[str]) -> None:
    answers = [holds({"a": {"N": str(number % 2)}}) for number in range(6)]
    assert answers == [False, True] * 3
    assert parsed == {"_tokenize": 1, "_condition_syntax_error": 1}


@pytest.mark.usefixtures("parsed")
def test_a_condition_that_is_wrong_is_refused_each_time() -> None:
    for _ in range(2):
        with pytest.raises(ValueError, match="Syntax error"):
            holds({}, "a = = :one")


@pytest.mark.usefixtures("parsed")
def test_whoever_changes_its_tokens_changes_those_of_nobody_else() -> None:
    dynamodb._tokenize(CONDITION).clear()
    assert holds({"a": {"N": "1"}})
