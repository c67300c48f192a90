"""Lets MiniStack's DynamoDB answer with the same, and sooner.

By itself it parses a condition again for every item that it compares with it, and a query looks at
all items of its partition: a page of a job of thousands of tasks takes seconds, in which the one
process is busy. Most of our queries are for the keys with a prefix, or from one to another,
in a partition, so that these conditions are compared without its parser. And it copies an item
several times for each write of it, and everything for a save, with `deepcopy`, though items are
plain data; and for each write it computes the sizes of all the item's numbers anew.
"""

import copy
import marshal
import re
from collections import defaultdict
from collections.abc import Callable
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, Final

from ministack.services import dynamodb

EXPRESSIONS: Final = 1_000
"""The most expressions that are remembered; our functions use a few dozen."""
UNCHANGEABLE: Final = frozenset({str, int, float, bool, bytes, type(None)})

NUMBERS: Final = 10_000
"""The most numbers whose size is remembered."""

PREFIX: Final = re.compile(r"(#?\w+) = (:\w+) AND begins_with\((#?\w+), (:\w+)\)")
RANGE: Final = re.compile(r"(#?\w+) = (:\w+) AND (#?\w+) BETWEEN (:\w+) AND (:\w+)")

Token = tuple[str, str]
Evaluate = Callable[..., bool]
Values = dict[str, dict[str, str]]


def speed_up_dynamodb() -> None:
    """Let it parse and compute the same once, find keys quickly, and copy plain data as such."""
    dynamodb._tokenize = _tokenizing_once(dynamodb._tokenize)
    dynamodb._condition_syntax_error = lru_cache(EXPRESSIONS)(dynamodb._condition_syntax_error)
    dynamodb._evaluate_condition = _finding_keys_quickly(dynamodb._evaluate_condition)
    dynamodb._number_size_bytes = _computing_once(dynamodb._number_size_bytes)
    dynamodb._number_error = _computing_once(dynamodb._number_error)
    dynamodb.copy = SimpleNamespace(deepcopy=plain_copy)


def _tokenizing_once(tokenize: Callable[[str], list[Token]]) -> Callable[[str], list[Token]]:
    """Return a list of its own for each call: MiniStack may change it."""
    remembered = lru_cache(EXPRESSIONS)(lambda expression: tuple(tokenize(expression)))
    return lambda expression: list(remembered(expression))


def _computing_once(compute: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Remember the answers for texts; anything else is a mistake that MiniStack knows."""
    remembered = lru_cache(NUMBERS)(compute)
    return lambda number: remembered(number) if type(number) is str else compute(number)


def _finding_keys_quickly(evaluate: Evaluate) -> Evaluate:
    """Leave each condition to MiniStack once, which refuses what DynamoDB refuses."""
    accepted: dict[str, re.Match[str] | None] = {}

    def evaluated(
        condition: str,
        item: dict[str, Any],
        values: dict[str, Any],
        names: dict[str, str],
        slot: str = "ConditionExpression",
    ) -> bool:
        shape = accepted.get(condition)
        if shape and slot == "KeyConditionExpression":
            try:
                return _has_key(item, shape, values, names)
            except KeyError:  # no strings, or missing: MiniStack knows what follows
                return evaluate(condition, item, values, names, slot=slot)
        answer = evaluate(condition, item, values, names, slot=slot)
        if slot == "KeyConditionExpression" and len(accepted) < EXPRESSIONS:
            text = condition.strip()
            accepted[condition] = PREFIX.fullmatch(text) or RANGE.fullmatch(text)
        return answer

    return evaluated


def _has_key(
    item: dict[str, Any], shape: re.Match[str], values: Values, names: dict[str, str]
) -> bool:
    """Raise `KeyError` if one of them is no string. DynamoDB orders strings as Python does."""
    partition, wanted, sort, *bounds = shape.groups()
    found = item[names.get(partition, partition)]["S"]
    name: str = item[names.get(sort, sort)]["S"]
    texts = [values[bound]["S"] for bound in bounds]
    if found != values[wanted]["S"]:
        return False
    return texts[0] <= name <= texts[1] if shape.re is RANGE else name.startswith(texts[0])


def plain_copy(value: Any) -> Any:
    """Copy plain data in one go; leave everything else to `deepcopy`."""
    kind = type(value)
    if kind in UNCHANGEABLE:
        return value
    if kind is dict or kind is list:
        try:
            return marshal.loads(marshal.dumps(value))  # noqa: S302 - written in this very line
        except ValueError:  # not plain
            return copy.deepcopy(value)
    if kind is defaultdict:
        copies = {key: plain_copy(one) for key, one in value.items()}
        return defaultdict(value.default_factory, copies)
    return copy.deepcopy(value)
