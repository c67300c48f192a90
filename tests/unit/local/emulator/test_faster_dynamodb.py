"""MiniStack's DynamoDB with expressions that are parsed once and copies of plain data."""

import copy
from collections import Counter, OrderedDict, defaultdict
from typing import Any

import pytest
from ministack.services import dynamodb

from switchyard_local.emulator.faster_dynamodb import plain_copy, speed_up_dynamodb

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
    for name in ("_evaluate_condition", "_number_size_bytes", "_number_error"):
        monkeypatch.setattr(dynamodb, name, getattr(dynamodb, name))
    monkeypatch.setattr(dynamodb, "copy", copy)
    speed_up_dynamodb()
    return counts


def holds(item: dict[str, Any], condition: str = CONDITION) -> bool:
    answer: bool = dynamodb._evaluate_condition(condition, item, VALUES, {})
    return answer


def test_a_condition_is_parsed_once_for_all_items(parsed: Counter[str]) -> None:
    answers = [holds({"a": {"N": str(number % 2)}}) for number in range(6)]
    assert answers == [False, True] * 3
    assert parsed == {"_tokenize": 1, "_condition_syntax_error": 1}


KEYS = "#PK = :job AND begins_with(SK, :prefix)"


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ({"PK": {"S": "j"}, "SK": {"S": "TASK#a"}}, True),
        ({"PK": {"S": "j"}, "SK": {"S": "TASK#"}}, True),
        ({"PK": {"S": "j"}, "SK": {"S": "DATA#a"}}, False),
        ({"PK": {"S": "k"}, "SK": {"S": "TASK#a"}}, False),
        ({"PK": {"S": "j"}}, False),
        ({"PK": {"B": "ag=="}, "SK": {"S": "TASK#a"}}, False),
    ],
)
def test_prefixes_are_found_as_ministack_finds_them(
    item: dict[str, Any], expected: bool, parsed: Counter[str]
) -> None:
    values = {":job": {"S": "j"}, ":prefix": {"S": "TASK#"}}
    answers = {
        dynamodb._evaluate_condition(
            KEYS, item, values, {"#PK": "PK"}, slot="KeyConditionExpression"
        )
        for _ in range(3)
    }
    assert answers == {expected}
    assert parsed["_tokenize"] == 1


FROM_TO = "#PK = :job AND SK BETWEEN :first AND :last"


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ({"PK": {"S": "j"}, "SK": {"S": "JOB"}}, True),
        ({"PK": {"S": "j"}, "SK": {"S": "JOB#1"}}, True),
        ({"PK": {"S": "j"}, "SK": {"S": "TASK"}}, True),
        ({"PK": {"S": "j"}, "SK": {"S": "TASK#"}}, False),
        ({"PK": {"S": "j"}, "SK": {"S": "DATA"}}, False),
        ({"PK": {"S": "k"}, "SK": {"S": "JOB"}}, False),
        ({"PK": {"S": "j"}}, False),
    ],
)
def test_ranges_are_found_as_ministack_finds_them(
    item: dict[str, Any], expected: bool, parsed: Counter[str]
) -> None:
    values = {":job": {"S": "j"}, ":first": {"S": "JOB"}, ":last": {"S": "TASK"}}
    answers = {
        dynamodb._evaluate_condition(
            FROM_TO, item, values, {"#PK": "PK"}, slot="KeyConditionExpression"
        )
        for _ in range(3)
    }
    assert answers == {expected}
    assert parsed["_tokenize"] == 1


@pytest.mark.usefixtures("parsed")
@pytest.mark.parametrize("number", ["0", "-1", "12.50", "1e400", "x", 7, ["1"]])
def test_a_number_is_judged_and_measured_as_ministack_does(number: Any) -> None:
    judged = [dynamodb._number_error(number) for _ in range(2)]
    assert judged[0] == judged[1]
    assert (judged[0] is None) == (number in ("0", "-1", "12.50"))
    assert dynamodb._number_size_bytes(number) == dynamodb._number_size_bytes(number) > 0


@pytest.mark.usefixtures("parsed")
def test_a_condition_that_is_wrong_is_refused_each_time() -> None:
    for _ in range(2):
        with pytest.raises(ValueError, match="Syntax error"):
            holds({}, "a = = :one")


@pytest.mark.usefixtures("parsed")
def test_whoever_changes_its_tokens_changes_those_of_nobody_else() -> None:
    dynamodb._tokenize(CONDITION).clear()
    assert holds({"a": {"N": "1"}})


@pytest.mark.parametrize(
    "value",
    [
        {"a": {"L": [{"N": "1"}, {"BOOL": True}, {"NULL": True}]}, "b": {"B": b"2"}},
        defaultdict(dict, {"pk": {"sk": {"a": {"S": "1"}}}}),
        OrderedDict(a={"SS": {"x", "y"}}),
    ],
)
def test_a_copy_is_equal_of_the_same_type_and_shares_nothing(value: Any) -> None:
    copied = plain_copy(value)
    assert copied == value == copy.deepcopy(value)
    assert type(copied) is type(value)
    shared = _parts(copied) & _parts(value)
    assert not shared


def _parts(value: Any) -> set[int]:
    """The identities of everything in it that can be changed."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    own = {id(value)} if isinstance(value, dict | list | set) else set()
    return own.union(*(_parts(one) for one in inner))


@pytest.mark.usefixtures("parsed")
def test_an_update_leaves_the_item_before_it_as_it_was() -> None:
    before = {"a": {"M": {"b": {"N": "1"}}}}
    after, _ = dynamodb._apply_update_expression(before, "SET a.b = :two", {":two": {"N": "2"}}, {})
    assert before == {"a": {"M": {"b": {"N": "1"}}}}
    assert after == {"a": {"M": {"b": {"N": "2"}}}}
