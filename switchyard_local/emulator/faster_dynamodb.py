"""Lets MiniStack's DynamoDB answer with the same, and sooner.

By itself it parses a condition again for every item that it compares with it, and a query looks at
all items of its partition: a page of a job of thousands of tasks takes seconds, in which the one
process answers nobody. Most of our queries are for the keys with a prefix in a partition, so that
these conditions are compared without its parser. And it copies an item several times for each write
of it, and everything for a save, with `deepcopy`, though items are plain data.
"""

import copy
import re
from collections import defaultdict
from collections.abc import Callable
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, Final

from ministack.services import dynamodb

EXPRESSIONS: Final = 1_000
"""How many are remembered; our functions use a few dozen."""
UNCHANGEABLE: Final = frozenset({str, int, float, bool, bytes, type(None)})

PREFIX_CONDITION: Final = re.compile(r"(#?\w+) = (:\w+) AND begins_with\((#?\w+), (:\w+)\)")

Token = tuple[str, str]
Evaluate = Callable[..., bool]


def speed_up_dynamodb() -> None:
    """Let it parse each expression once, look for prefixes quickly, and copy plain data as such."""
    dynamodb._tokenize = _tokenizing_once(dynamodb._tokenize)
    dynamodb._condition_syntax_error = lru_cache(EXPRESSIONS)(dynamodb._condition_syntax_error)
    dynamodb._evaluate_condition = _finding_prefixes_quickly(dynamodb._evaluate_condition)
    dynamodb.copy = SimpleNamespace(deepcopy=plain_copy)


def _tokenizing_once(tokenize: Callable[[str], list[Token]]) -> Callable[[str], list[Token]]:
    """Return a list of its own for each call: MiniStack may change it."""
    remembered = lru_cache(EXPRESSIONS)(lambda expression: tuple(tokenize(expression)))
    return lambda expression: list(remembered(expression))


def _finding_prefixes_quickly(evaluate: Evaluate) -> Evaluate:
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
            partition, wanted, sort, prefix = shape.groups()
            try:
                found = item[names.get(partition, partition)]["S"]
                name: str = item[names.get(sort, sort)]["S"]
                return bool(found == values[wanted]["S"]) and name.startswith(values[prefix]["S"])
            except KeyError:  # no strings, or missing: MiniStack knows what follows
                return evaluate(condition, item, values, names, slot=slot)
        answer = evaluate(condition, item, values, names, slot=slot)
        if slot == "KeyConditionExpression" and len(accepted) < EXPRESSIONS:
            accepted[condition] = PREFIX_CONDITION.fullmatch(condition.strip())
        return answer

    return evaluated


def plain_copy(value: Any) -> Any:
    """Copy plain data; leave everything else to `deepcopy`."""
    kind = type(value)
    if kind in UNCHANGEABLE:
        return value
    if kind is dict:
        return {key: plain_copy(one) for key, one in value.items()}
    if kind is list:
        return [plain_copy(one) for one in value]
    if kind is defaultdict:
        copies = {key: plain_copy(one) for key, one in value.items()}
        return defaultdict(value.default_factory, copies)
    return copy.deepcopy(value)
